import FleetExperiments

/// What a picture shows, and not where: `ChartDrawing` lays it out for any width.
package struct Chart {
  /// The finding, on top of a picture that stands alone.
  package var title: String
  /// What was asked, below the title.
  var facts = ""
  /// For those who cannot see it.
  var description = ""
  package var sections: [Section]

  /// Plots on the same horizontal axis, below a heading.
  package struct Section {
    var title = ""
    package var x: Axis
    package var panels: [Panel]
    /// Beside one another, where there is room.
    var columns = 1
    /// Below the plots.
    var note = ""

    /// Where an axis ends that a curve goes beyond.
    var cut: Double? {
      panels.first { panel in
        panel.curves.contains { curve in
          curve.envelope.contains { $0.map { panel.y.isBeyond(curve.top($0)) } ?? false }
        }
      }?.y.range.upperBound
    }
  }

  package struct Panel {
    var name = ""
    var ink = Ink.text
    /// In small letters behind the name.
    var figures = ""
    var y: Axis
    var height = 84.0
    package var shades: [Shade] = []
    /// The first is drawn first.
    package var curves: [Curve] = []
    var dots: [Dot] = []
    var cells: [Cell] = []
    /// The first ones get their places first.
    package var labels: [Label] = []
  }

  /// A stretch of the horizontal axis, or a moment of it, with its name above the plot.
  package struct Shade {
    package var range: ClosedRange<Double>
    var label = ""
    var ink = Ink.incident
  }

  /// A series in columns of one width.
  package struct Curve {
    enum Look {
      /// Through the mean of each column.
      case line
      /// Through the extremes of each column.
      case spikes
      /// The same, with what is below it lightly filled.
      case area
      /// The mean in an interval about it.
      case band
      /// Level until the value changes.
      case steps
    }
    package var envelope: Envelope
    /// Where the first column begins and the last one ends.
    var range: ClosedRange<Double>
    var ink: Ink
    var look: Look
    var width = 1.6
    var dash: String?
    /// In the legend.
    var name = ""
    /// Whether its values are shown under the pointer.
    var isRead = false

    /// The value that is drawn highest.
    func top(_ column: VariantCurves.Point) -> Double { look == .line ? column.mean : column.high }

    func beginning(of column: Int) -> Double {
      range.lowerBound + Double(column) / Double(envelope.count) * (range.upperBound - range.lowerBound)
    }

    func position(of column: Int) -> Double { (beginning(of: column) + beginning(of: column + 1)) / 2 }

    /// The mean of the last column that begins before a value of the axis; 0 where there is none.
    func value(at position: Double) -> Double {
      let width = (range.upperBound - range.lowerBound) / Double(max(envelope.count, 1))
      guard width > 0 else { return 0 }
      let place = Int(min(max((position - range.lowerBound) / width, 0), Double(envelope.count)))
      return envelope.prefix(place + 1).last { $0 != nil }??.mean ?? 0
    }
  }

  package struct Dot {
    enum Look: Equatable {
      case point(width: Double)
      case ring, star
    }
    var x: Double
    var y: Double
    var look: Look
    var ink: Ink
    /// An interval about `y`.
    var interval: ClosedRange<Double>?
    /// In the legend.
    var name = ""
    /// Under the pointer.
    var details = ""
  }

  /// A square of a map, one unit of both axes wide and high.
  package struct Cell {
    var column: Int
    var row: Int
    /// In its middle, if there is room.
    var text: String
    var ink: Ink
    var opacity: Double
    /// Under the pointer.
    var details: String
  }

  /// A text beside what it names. It is left out where it would cover another.
  package struct Label {
    enum Mark {
      case none
      /// A ring, and a stem from there to the text.
      case moment
      /// A line across the plot.
      case rule
    }
    /// Where it is too long for a line, it is broken behind a colon.
    package var text: String
    package var x: Double
    var y: Double
    var mark = Mark.none
    var ink = Ink.text
    var isBold = false
  }

  /// With its own colours, for light and dark pages, and no script.
  package var svg: String { ChartDrawing.svg(self, theme: .fixed, width: Lettering.pictureWidth) }

  /// For wide screens and narrow ones: a style sheet shows the one that fits.
  package var html: String {
    "<div class=\"wide\">\n\(ChartDrawing.svg(self, theme: .variables, width: Lettering.pictureWidth))</div>\n"
      + "<div class=\"narrow\">\n\(ChartDrawing.svg(self, theme: .variables, width: Lettering.narrowWidth))</div>\n"
  }
}
