/// First in, first out; its end can be taken too.
struct Lane<Element> {
  private var elements: [Element] = []
  private var head = 0

  var count: Int { elements.count - head }
  /// The oldest.
  var first: Element? { head < elements.count ? elements[head] : nil }

  /// The oldest first.
  var inOrder: ArraySlice<Element> { elements[head...] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func takeOldest() -> Element {
    head += 1
    let oldest = elements[head - 1]
    if head > 1_024 && head * 2 > elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return oldest
  }

  mutating func takeNewest() -> Element { elements.removeLast() }

  mutating func removeAll() {
    elements.removeAll(keepingCapacity: true)
    head = 0
  }
}
