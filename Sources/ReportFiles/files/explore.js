const data = JSON.parse(document.getElementById('data').textContent);
const NS = 'http://www.w3.org/2000/svg';
const QUANTITIES = [
  { title: 'Backlog above normal', unit: 'events' },
  { title: 'Offered load', unit: 'requests/s', capacity: true },
  { title: 'Goodput', unit: 'batches/s', capacity: true },
];
const LOOKS = [['var(--accent)', ''], ['var(--second)', '7 3'], ['var(--third)', '2 3']];
const state = { choice: data.axes.map(() => 0), pins: [null, null], zoomed: true, cursor: null };

// Which run a choice is: the last axis turns fastest.
const indexOf = choice => choice.reduce((run, value, i) => run * data.axes[i].values.length + value, 0);
const choiceOf = run => data.axes.map((_, i) => {
  const below = data.axes.slice(i + 1).reduce((n, axis) => n * axis.values.length, 1);
  return Math.floor(run / below) % data.axes[i].values.length;
});
const shown = () => [['shown', indexOf(state.choice)], ['A', state.pins[0]], ['B', state.pins[1]]]
  .map(([label, run], i) => ({ label, run, look: LOOKS[i] })).filter(entry => entry.run !== null);

// MARK: The address
function writeAddress() {
  const parts = data.axes.map((axis, i) => encodeURIComponent(axis.name) + '=' + encodeURIComponent(axis.values[state.choice[i]]));
  ['A', 'B'].forEach((name, i) => { if (state.pins[i] !== null) parts.push(name + '=' + state.pins[i]); });
  if (!state.zoomed) parts.push('whole=1');
  history.replaceState(null, '', '#' + parts.join('&'));
}
function readAddress() {
  const values = new Map(location.hash.slice(1).split('&').filter(Boolean).map(part => {
    const [name, value = ''] = part.split('=');
    try { return [decodeURIComponent(name), decodeURIComponent(value)]; } catch { return [name, value]; }
  }));
  data.axes.forEach((axis, i) => {
    const place = axis.values.indexOf(values.get(axis.name));
    if (place >= 0) state.choice[i] = place;
  });
  ['A', 'B'].forEach((name, i) => {
    const run = Number(values.get(name));
    state.pins[i] = values.has(name) && Number.isInteger(run) && run >= 0 && run < data.runs.length ? run : null;
  });
  state.zoomed = !values.has('whole');
}

// MARK: Controls
function element(name, attributes = {}, text) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}
function buildControls() {
  const form = document.getElementById('controls');
  form.replaceChildren();
  data.axes.forEach((axis, i) => {
    const short = axis.name.split('.').pop();
    const isAlone = data.axes.filter(other => other.name.split('.').pop() === short).length === 1;
    const label = element('label', { for: 'axis' + i, title: axis.name }, (isAlone ? short : axis.name) + ' ');
    const box = element('div');
    let control;
    if (axis.isScale) {
      const output = element('output', { for: 'axis' + i });
      label.append(output);
      control = element('input', { type: 'range', id: 'axis' + i, min: 0, max: axis.values.length - 1, step: 1 });
      control.sync = () => {
        control.value = state.choice[i];
        output.textContent = axis.values[state.choice[i]] + (state.choice[i] === axis.today ? ' (today)' : '');
        control.setAttribute('aria-valuetext', axis.values[state.choice[i]]);
      };
    } else {
      control = element('select', { id: 'axis' + i });
      axis.values.forEach((value, k) => control.append(element('option', { value: k }, value + (k === axis.today ? ' (today)' : ''))));
      control.sync = () => { control.value = state.choice[i]; };
    }
    for (const kind of ['input', 'change']) {
      control.addEventListener(kind, () => { state.choice[i] = Number(control.value); update(); });
    }
    box.append(label, control);
    form.append(box);
  });
  const pins = element('div', { class: 'pins' });
  ['A', 'B'].forEach((name, i) => {
    const button = element('button', { type: 'button', id: 'pin' + name });
    button.sync = () => {
      button.setAttribute('aria-pressed', String(state.pins[i] !== null));
      button.textContent = state.pins[i] === null ? 'Pin as ' + name : 'Unpin ' + name;
    };
    button.addEventListener('click', () => { state.pins[i] = state.pins[i] === null ? indexOf(state.choice) : null; update(); });
    pins.append(button);
  });
  const zoom = element('button', { type: 'button', id: 'zoom' });
  zoom.sync = () => {
    zoom.setAttribute('aria-pressed', String(!state.zoomed));
    zoom.textContent = 'Whole run';
  };
  zoom.addEventListener('click', () => { state.zoomed = !state.zoomed; update(); });
  pins.append(zoom);
  form.append(pins);
  form.addEventListener('submit', event => event.preventDefault());
}

// MARK: The verdict, and all runs in one picture
const AGAINST = data.today === null ? 'the best' : 'today';
const STANDINGS = {
  same: ['var(--muted)', AGAINST + ' itself'],
  better: ['var(--best)', 'better than ' + AGAINST],
  worse: ['var(--incident)', 'worse than ' + AGAINST],
  'as good': ['var(--grid)', 'as good as ' + AGAINST],
  'not decided': ['none', 'not decided against ' + AGAINST],
  incomparable: ['none', 'not to be compared with ' + AGAINST],
};
function drawVerdict() {
  const run = data.runs[indexOf(state.choice)];
  document.getElementById('verdict').textContent = run.verdict;
  const missing = data.axes.filter(axis => axis.today === null).map(axis => axis.name);
  document.getElementById('against').textContent = 'This run: ' + STANDINGS[run.standing][1] + '.'
    + (missing.length ? ' The scenario\'s own value of ' + missing.join(', ') + ' is not in the grid.' : '');
}
// The axis with the most values lies to the right, the others one below another.
function drawMap() {
  const across = data.axes.reduce((most, axis, i) => axis.values.length > data.axes[most].values.length ? i : most, 0);
  const columns = data.axes[across].values.length, rows = data.runs.length / columns;
  const size = Math.max(5, Math.min(22, Math.floor(Math.min(660 / columns, 330 / rows))));
  const below = new Map();
  const map = svg('svg', {
    width: columns * size + 2, height: rows * size + 2, role: 'img', id: 'all-runs',
    'aria-label': 'All runs: ' + data.axes[across].name + ' to the right' + (rows > 1 ? ', the other keys downwards' : ''),
  });
  data.runs.forEach((run, index) => {
    const choice = choiceOf(index);
    const others = choice.filter((_, i) => i !== across).join();
    if (!below.has(others)) below.set(others, below.size);
    const [fill, words] = STANDINGS[run.standing];
    const [x, y] = [1 + choice[across] * size, 1 + below.get(others) * size];
    const isShown = index === indexOf(state.choice);
    const cell = svg('rect', {
      x: x + 1, y: y + 1, width: size - 2, height: size - 2, rx: 2, fill: fill === 'none' ? 'var(--panel)' : fill, 'data-cell': index,
      stroke: isShown ? 'var(--text)' : fill === 'none' ? 'var(--muted)' : 'none', 'stroke-width': isShown ? 2.5 : 1,
      'stroke-dasharray': isShown || fill !== 'none' ? '' : '2 2',
    });
    cell.append(svg('title', {}, run.name + ': ' + words + '; ' + data.metrics.map((metric, m) => metric.title + ' ' + run.texts[m]).join(', ')));
    cell.addEventListener('click', () => { state.choice = choice; update(); });
    map.append(cell);
  });
  const legend = element('p', { class: 'legend' });
  const counts = Object.keys(STANDINGS).map(key => [key, data.runs.filter(run => run.standing === key).length]).filter(entry => entry[1]);
  counts.forEach(([key, count]) => {
    const [fill, words] = STANDINGS[key];
    const mark = element('span', { class: 'swatch' + (fill === 'none' ? ' open' : ''), style: fill === 'none' ? '' : 'background:' + fill });
    legend.append(mark, (key === 'same' ? '' : count + ' ') + words + ' ');
  });
  const jump = [['today', 'Today'], ['best', 'Best']].filter(([key]) => data[key] !== null).map(([key, title]) => {
    const button = element('button', { type: 'button', id: key }, title);
    button.addEventListener('click', () => { state.choice = choiceOf(data[key]); update(); });
    return button;
  });
  const buttons = element('div', { class: 'pins' });
  buttons.append(...jump);
  document.getElementById('map').replaceChildren(map, legend, buttons);
}

// MARK: Figures
function drawFigures() {
  const entries = shown();
  const table = element('table', { id: 'metrics' });
  const head = element('tr');
  head.append(element('th', { scope: 'col' }, 'run'));
  data.metrics.forEach(metric => head.append(element('th', { scope: 'col' }, metric.title)));
  const thead = element('thead');
  thead.append(head);
  const body = element('tbody');
  entries.forEach((entry, i) => {
    const run = data.runs[entry.run];
    const row = element('tr');
    const heading = element('th', { scope: 'row' });
    heading.append(element('span', { class: 'swatch', style: 'background:' + entry.look[0] }));
    heading.append((entry.label === 'shown' ? '' : entry.label + ': ') + run.name);
    row.append(heading);
    data.metrics.forEach((metric, m) => {
      const cell = element('td', { 'data-label': metric.title });
      const own = data.runs[entries[0].run].values[m];
      const other = run.values[m];
      if (i > 0 && own !== null && other !== null && Math.abs(own - other) > 0.005 * Math.abs(own)) {
        cell.className = (other < own) === metric.lower ? 'better' : 'worse';
      }
      cell.append(element('span', {}, run.texts[m]));
      row.append(cell);
    });
    body.append(row);
  });
  table.append(thead, body);
  document.getElementById('figures').replaceChildren(table);
}

// MARK: Charts
let W = 1160;
const H = 240, LEFT = 70, RIGHT = 20, TOP = 10, BOTTOM = 26;
function svg(name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}
function compact(value) {
  if (value === null || value === undefined) return 'none';
  for (const [size, unit] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (Math.abs(value) >= size) return Number((value / size).toPrecision(3)) + unit;
  }
  return String(Number(value.toPrecision(3)));
}
function clock(seconds) {
  const s = Math.round(seconds), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  const pair = (a, unit, b, small) => a + unit + (b ? ' ' + String(b).padStart(2, '0') + small : '');
  return h ? pair(h, ' h', m, ' min') : m ? pair(m, ' min', s % 60, ' s') : s + ' s';
}
function steps(low, high, count, sizes) {
  const step = sizes.find(size => (high - low) / size <= count) || (high - low) / count;
  const marks = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high * 1.000001; value += step) marks.push(value);
  return marks;
}
const ROUND = []; for (let e = -3; e < 13; e++) for (const d of [1, 2, 5]) ROUND.push(d * 10 ** e);
const TIMES = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800];

function timeRange(entries) {
  const runs = entries.map(entry => data.runs[entry.run]);
  const duration = Math.max(...runs.map(run => run.duration));
  const incidents = runs.flatMap(run => run.incidents);
  if (!state.zoomed || !incidents.length) return [0, duration];
  const start = Math.min(...incidents.map(incident => incident[0]));
  const recovery = data.metrics.findIndex(metric => metric.name === 'recovery_s');
  const ends = runs.map(run => {
    const end = Math.max(...run.incidents.map(incident => incident[1]));
    const time = recovery < 0 ? null : run.values[recovery];
    return time === null ? run.duration : end + time;
  });
  const end = Math.min(duration, Math.max(...ends) + 0.15 * (Math.max(...ends) - start));
  return [Math.max(0, start - 0.1 * (end - start)), end];
}
// One height for all runs, so that what grows is seen to grow; a spike may go beyond it.
const LIMITS = QUANTITIES.map((quantity, q) => {
  const capacity = Math.max(...data.runs.map(run => run.capacity));
  const highest = Math.max(1, ...data.runs.map(run => run.curves[q].reduce((a, b) => Math.max(a, b ?? 0), 0)));
  return quantity.capacity ? Math.max(Math.min(highest, 4 * capacity), 1.1 * Math.min(capacity, 3 * highest)) : highest;
});

function drawCharts() {
  const entries = shown();
  const root = document.getElementById('charts');
  W = Math.max(360, Math.min(1160, root.clientWidth));
  const [from, to] = timeRange(entries);
  const px = time => LEFT + (time - from) / Math.max(to - from, 1e-9) * (W - LEFT - RIGHT);
  const time = x => from + (x - LEFT) / (W - LEFT - RIGHT) * (to - from);
  const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.chart : undefined;
  root.replaceChildren();
  QUANTITIES.forEach((quantity, q) => {
    const limit = LIMITS[q] * 1.03;
    const py = value => H - BOTTOM - Math.min(Math.max(value / limit, 0), 1) * (H - TOP - BOTTOM);
    const chart = svg('svg', {
      viewBox: `0 0 ${W} ${H}`, role: 'img', tabindex: 0, 'data-chart': q,
      'aria-label': quantity.title + ', ' + quantity.unit + ': ' + entries.map(entry => data.runs[entry.run].name).join(', '),
    });
    steps(0, limit, 5, ROUND).forEach(value => {
      chart.append(svg('line', { x1: LEFT, x2: W - RIGHT, y1: py(value), y2: py(value), stroke: 'var(--grid)' }));
      chart.append(svg('text', { x: LEFT - 6, y: py(value) + 4, 'text-anchor': 'end' }, compact(value)));
    });
    steps(from, to, W < 700 ? 4 : 10, TIMES).forEach(value => {
      chart.append(svg('line', { x1: px(value), x2: px(value), y1: TOP, y2: H - BOTTOM, stroke: 'var(--grid)' }));
      chart.append(svg('text', { x: px(value), y: H - 8, 'text-anchor': 'middle' }, clock(value)));
    });
    data.runs[entries[0].run].incidents.forEach(([start, end]) => {
      const [a, b] = [Math.max(start, from), Math.min(end, to)];
      const box = { x: px(a), y: TOP, width: px(b) - px(a), height: H - TOP - BOTTOM };
      if (b > a) chart.append(svg('rect', { ...box, fill: 'var(--incident)', opacity: 0.14 }));
    });
    if (quantity.capacity) {
      const y = py(data.runs[entries[0].run].capacity);
      chart.append(svg('line', { x1: LEFT, x2: W - RIGHT, y1: y, y2: y, stroke: 'var(--text)', 'stroke-dasharray': '6 4' }));
    }
    [...entries].reverse().forEach(entry => {
      const run = data.runs[entry.run], values = run.curves[q], width = run.duration / Math.max(values.length, 1);
      let path = '', pen = 'M';
      values.forEach((value, i) => {
        const at = (i + 0.5) * width;
        if (value === null || at < from - width || at > to + width) { pen = 'M'; return; }
        path += pen + Math.min(Math.max(px(at), LEFT), W - RIGHT).toFixed(1) + ' ' + py(value).toFixed(1);
        pen = 'L';
      });
      const [stroke, dash] = entry.look;
      chart.append(svg('path', {
        d: path, fill: 'none', stroke, 'stroke-width': 2, 'stroke-dasharray': dash, 'data-run': entry.run,
      }));
    });
    // What goes beyond the axis is marked where it is highest, with its height.
    const highest = [];
    entries.forEach(entry => {
      const run = data.runs[entry.run], values = run.curves[q], width = run.duration / Math.max(values.length, 1);
      let peak = null;
      values.concat([null]).forEach((value, i) => {
        const at = (i + 0.5) * width;
        const isCut = value !== null && value > limit && at >= from && at <= to;
        if (isCut && (peak === null || value > peak.value)) peak = { value, at };
        if (!isCut && peak !== null) {
          const mark = svg('text', { x: px(peak.at), y: TOP + 9, 'text-anchor': 'middle', class: 'clipped', style: 'fill:' + entry.look[0] }, '▲');
          mark.append(svg('title', {}, run.name + ': ' + compact(peak.value) + ' ' + quantity.unit));
          chart.append(mark);
          highest.push(peak.value);
          peak = null;
        }
      });
    });
    const readout = element('p', { 'aria-live': 'polite', 'data-readout': q });
    if (state.cursor !== null && state.cursor >= from && state.cursor <= to) {
      chart.append(svg('line', { x1: px(state.cursor), x2: px(state.cursor), y1: TOP, y2: H - BOTTOM, stroke: 'var(--text)', class: 'cursor' }));
      readout.textContent = clock(state.cursor) + ': ' + entries.map(entry => {
        const run = data.runs[entry.run], values = run.curves[q];
        const value = values[Math.min(values.length - 1, Math.floor(state.cursor / run.duration * values.length))];
        return (entry.label === 'shown' ? '' : entry.label + ' ') + compact(value) + ' ' + quantity.unit;
      }).join(', ');
    }
    const point = event => {
      const box = chart.getBoundingClientRect();
      return Math.min(Math.max(time((event.clientX - box.left) / box.width * W), from), to);
    };
    chart.addEventListener('pointermove', event => { state.cursor = point(event); scheduleCharts(); });
    chart.addEventListener('keydown', event => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const width = data.runs[entries[0].run].duration / Math.max(data.runs[entries[0].run].curves[q].length, 1);
      state.cursor = Math.min(Math.max((state.cursor ?? (from + to) / 2) + step * width, from), to);
      drawCharts();
    });
    const note = highest.length ? ' (▲ goes up to ' + compact(Math.max(...highest)) + ')' : '';
    root.append(element('h2', {}, quantity.title + ', ' + quantity.unit + note), chart, readout);
    if (focused === String(q)) chart.focus();
  });
}
let isScheduled = false;
function scheduleCharts() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => { isScheduled = false; drawCharts(); });
}

function update() {
  for (const control of document.querySelectorAll('#controls input, #controls select, #controls button')) control.sync();
  drawVerdict();
  drawMap();
  drawFigures();
  drawCharts();
  writeAddress();
}
// The scenario's own values, and for a key without one that of the best run, unless the address says another.
state.choice = data.axes.map((axis, i) => axis.today ?? choiceOf(data.best)[i]);
readAddress();
buildControls();
update();
window.addEventListener('resize', scheduleCharts);
window.addEventListener('hashchange', () => { readAddress(); update(); });
