"use strict";
const $ = (id) => document.getElementById(id);
const seconds = (s) => s < 60 ? `${s} s` : s % 60 ? `${Math.floor(s / 60)} min ${s % 60} s` : s < 3600 ? `${s / 60} min` : `${s / 3600} h`;
const count = (n) => n.toLocaleString("en");

// What a link may say: as Sources/Playground/Parameters.swift has it, which judges it.
const controls = [
  ["Clients", [
    ["phones", "Phones", 1000, [100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000], count],
    ["retries", "Retries", "timer", { timer: "by a timer", gate: "at the next flush" }],
    ["jitter", "Jitter", "additive", { none: "none", additive: "additive", full: "full", equal: "equal", decorrelated: "decorrelated" }],
    ["percent", "Additive jitter", 10, [0, 5, 10, 20, 30, 50, 75, 100], (n) => `${n} %`, (p) => p.jitter === "additive"],
    ["base", "First wait (base)", 500, [100, 250, 500, 1000, 2000, 5000, 10000, 30000, 60000], (n) => seconds(n / 1000)],
    ["cap", "Longest wait (cap)", 300, [1, 5, 10, 30, 60, 120, 150, 300, 600, 1800, 3600], seconds],
    ["limit", "Most retries of an upload", 100, [0, 1, 2, 3, 5, 10, 20, 50, 100, 1000], count],
    ["flush", "Flush every", 30, [5, 10, 15, 30, 60, 120, 300, 600], seconds],
  ]],
  ["Server", [
    ["capacity", "Capacity, of the normal load", 200, [50, 75, 100, 110, 125, 150, 175, 200, 300, 400, 600, 1000], (n) => `${n} %`],
    ["server", "Overloaded, it", "bucket", { bucket: "turns requests away", workers: "lets them queue" }],
    ["after", "Retry-After of its 429s", 0, [0, 5, 10, 20, 29, 30, 31, 45, 60, 90, 120, 300], (n) => n ? seconds(n) : "none"],
    ["until", "… spread up to", 0, [0, 10, 20, 30, 45, 60, 90, 120, 180, 300], (n, p) => n > p.after ? seconds(n) : "not spread", (p) => p.after > 0],
  ]],
  ["Outage", [
    ["kind", "The server", "silence", { silence: "is silent", status503: "answers 503", status429: "answers 429", slow: "has half its capacity" }],
    ["outage", "For", 10, [1, 2, 3, 5, 10, 15, 20, 30, 45, 60], (n) => seconds(n * 60)],
    ["crowd", "Then all open the app", "no", { no: "no", yes: "within 10 s" }],
    ["seed", "Seed", 1],
  ]],
];
const all = controls.flatMap(([, list]) => list);
// Of links alone: minutes that are watched after the outage.
const standard = { ...Object.fromEntries(all.map(([name, , value]) => [name, value])), watch: 90 };
const presets = [
  ["10 % jitter", {}],
  ["Full jitter", { jitter: "full" }],
  ["Retry-After of 29 s", { retries: "gate", kind: "status429", after: 29 }],
  ["Retry-After of 30 s", { retries: "gate", kind: "status429", after: 30 }],
  ["A metastable server", { jitter: "full", base: 1000, cap: 10, server: "workers", capacity: 150, kind: "slow", outage: 5 }],
  ["Everybody at once", { kind: "status503", jitter: "full", crowd: "yes" }],
];

let parameters = { ...standard }, job = 0, worker = null, curve = null, ghost = null, known = null, timer = 0;

// MARK: Controls

function buildControls() {
  for (const [title, list] of controls) {
    const set = document.createElement("fieldset");
    set.innerHTML = `<legend>${title}</legend>`;
    for (const [name, label, , values, show] of list) {
      const box = document.createElement("label");
      box.append(label);
      let input;
      if (Array.isArray(values)) {
        input = document.createElement("input");
        input.type = "range";
        input.min = 0;
        box.append(Object.assign(document.createElement("output"), { htmlFor: name }), input);
      } else if (values) {
        input = document.createElement("select");
        for (const [value, shown] of Object.entries(values)) input.add(new Option(shown, value));
        box.append(input);
      } else {
        input = Object.assign(document.createElement("input"), { type: "number", min: 0, max: 2e9, step: 1 });
        box.append(input);
      }
      input.id = name;
      input.setAttribute("aria-label", label);
      input.addEventListener("input", () => {
        const steps = input.steps;
        parameters[name] = steps ? steps[input.value] : values ? input.value : Math.round(+input.value) || 0;
        changed();
      });
      set.append(box);
    }
    $("controls").append(set);
  }
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  for (const [title, change] of presets) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: title });
    button.addEventListener("click", () => {
      parameters = { ...standard, phones: parameters.phones, seed: parameters.seed, ...change };
      changed();
    });
    button.change = change;
    $("presets").append(button);
  }
}

function showControls() {
  for (const [name, , , values, show, isThere] of all) {
    const input = $(name), value = parameters[name];
    if (Array.isArray(values)) {
      input.steps = values.includes(value) ? values : [...values, value].sort((a, b) => a - b);
      input.max = input.steps.length - 1;
      input.value = input.steps.indexOf(value);
      input.parentElement.querySelector("output").textContent = show(value, parameters);
      input.setAttribute("aria-valuetext", show(value, parameters));
    } else if (document.activeElement !== input || String(value) !== input.value) {
      input.value = value;
    }
    input.parentElement.hidden = isThere ? !isThere(parameters) : false;
  }
  const words = { 1: "one minute", 2: "two minutes", 3: "three minutes", 5: "five minutes", 10: "ten minutes", 30: "half an hour", 60: "an hour" };
  const length = words[parameters.outage] ?? `${parameters.outage} minutes`;
  const start = parameters.kind === "slow" ? `Half the capacity for ${length}.` : `An outage of ${length}.`;
  $("question").textContent = `${start} How does your fleet come back?`;
  $("what").textContent = `The code that an app embeds (UploadRetry, UploadGating, UploadPipeline), run by ${count(parameters.phones)} simulated `
    + `phones with seed ${parameters.seed}: each creates six events a minute. Nothing leaves this page.`;
  for (const button of $("presets").children) {
    const wanted = { ...standard, phones: parameters.phones, seed: parameters.seed, ...button.change };
    button.setAttribute("aria-pressed", all.every(([name]) => String(wanted[name]) === String(parameters[name])));
  }
}

/** The parameters that differ from the standard, as the link and the engine read them. */
function asked() {
  const p = { ...parameters };
  if (p.after === 0 || p.until <= p.after) p.until = 0;
  if (p.cap * 1000 < p.base) p.cap = Math.ceil(p.base / 1000);
  return Object.entries(p).filter(([name, value]) => String(value) !== String(standard[name])).map(([name, value]) => `${name}=${value}`).join("&");
}

function readLink() {
  parameters = { ...standard };
  let link = location.hash.slice(1);
  try { link = decodeURIComponent(link); } catch { /* the engine says what is wrong */ }
  for (const part of link.split("&")) {
    const [name, value] = part.split("=");
    if (!(name in standard) || value === undefined) continue;
    const isNumber = typeof standard[name] === "number", steps = all.find((one) => one[0] === name)?.[3];
    if (isNumber ? /^\d{1,10}$/.test(value) : value in steps) parameters[name] = isNumber ? +value : value;
  }
  return link;
}

function changed() {
  showControls();
  clearTimeout(timer);
  timer = setTimeout(() => { timer = 0; ask(asked()); }, 60);
}

// MARK: The run

function trouble(text, actions = []) {
  const box = $("trouble");
  box.hidden = !text;
  box.textContent = text ?? "";
  for (const [title, act] of actions) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: title });
    button.addEventListener("click", act);
    box.append(" ", button);
  }
}

function ask(text, patient = false) {
  if (!worker) return;
  known = null;
  trouble();
  if (curve?.isWhole) ghost = curve;
  curve = null;
  $("figures").className = "waiting";
  const place = location.pathname + location.search + (text ? `#${text}` : "");
  try { history.replaceState(null, "", place); } catch { location.hash = text; }
  worker.postMessage({ id: ++job, parameters: text, patient });
}

/** What the server's capacity depends on. */
const load = () => [parameters.phones, parameters.flush, parameters.capacity].join();

function hear({ data }) {
  if (data.ready) return ask(readLink());
  if (data.id !== job) return;
  if (data.json5) {
    $("json5").textContent = data.json5;
    $("command").textContent = `fleetsim run playground.json5 --seed ${parameters.seed} --out out/playground`;
  }
  if (data.wrong) {
    $("status").textContent = "";
    trouble(`This can't be run: ${data.wrong}.`, [["Back to the standard", () => { parameters = { ...standard }; changed(); }]]);
  }
  if (data.failed) failed(data.failed);
  if (data.tooLong) tooLong(data.tooLong);
  if (data.share !== undefined) $("status").textContent = `${Math.round(100 * data.share)} % of three runs: this one, without the outage, with ideal phones`;
  if (data.series) {
    const rows = data.series.length / 2;
    curve = { sent: data.series.subarray(0, rows), held: data.series.subarray(rows), load: load(), isWhole: data.isWhole };
    if (data.isWhole) known = { curve: Math.round(data.milliseconds) };
    draw();
  }
  if (data.figures) showFigures(data);
}

function failed(text) {
  const isMemory = /memory|allocation/i.test(text);
  $("status").textContent = "";
  trouble(isMemory ? `The browser gave no more memory: try fewer phones. (${text})`
    : `The engine stopped, which it never should (${text}). Please report this page's address, ${location.href}, with your browser's name.`);
}

function tooLong(time) {
  const text = asked(), fewer = Math.max(100, Math.floor(parameters.phones * 25 / time / 100) * 100);
  $("status").textContent = "";
  trouble(`This would take about ${Math.round(time)} s here. The command line is several times as fast.`, [
    [`Run ${count(fewer)} phones`, () => { parameters.phones = fewer; changed(); }], ["Wait for it", () => ask(text, true)],
  ]);
}

function time(s) {
  if (s < 0) return null;
  const t = Math.round(s), [h, m] = [Math.floor(t / 3600), Math.floor(t % 3600 / 60)];
  return h ? `${h} h ${String(m).padStart(2, "0")} min` : m ? `${m} min ${String(t % 60).padStart(2, "0")} s` : `${t} s`;
}

function showFigures({ figures, milliseconds, csv }) {
  const [well, caught, possible, lost, late, extra, created, capacity, duration, isHealthy] = figures;
  const left = 60 * parameters.watch, never = `not within ${time(left)}`;
  known = { ...known, job, figures: [...figures], all: Math.round(milliseconds), csv };
  $("figures").className = "";
  $("well").textContent = well < 0 ? never : time(well);
  $("caught").textContent = caught < 0 ? never : time(caught);
  $("possible").textContent = possible < 0 ? "not possible at this capacity" : `ideal phones: ${time(possible)} at this capacity`;
  $("lost").textContent = count(lost + late);
  $("created").textContent = `of ${count(created)} events; ${count(lost)} given up, ${count(late)} still wait`;
  $("extra").textContent = extra >= 99.95 ? count(Math.round(extra)) : String(+extra.toPrecision(3));
  $("status").textContent = isHealthy ? `Three runs in ${(milliseconds / 1000).toFixed(1)} s: this one, without the outage, with ideal phones.`
    : "Without any outage this fleet does not hold its load: the capacity is too small for it, or events are lost all the time.";
  $("told").textContent = `After the outage the endpoint was well ${well < 0 ? never : "in " + time(well)}, and the fleet had caught up `
    + `${caught < 0 ? never : "in " + time(caught)}; ${count(lost + late)} events lost or late, ${$("extra").textContent} extra requests a phone.`;
  if (curve) { curve.capacity = capacity; draw(); }
}

// MARK: The chart

function draw() {
  const svg = $("chart"), width = Math.max(320, Math.round(svg.parentElement.clientWidth)), upper = width < 500 ? 170 : 250, lower = width < 500 ? 70 : 100;
  const [left, top, gap] = [46, 16, 30], right = width - 8, height = top + upper + gap + lower + 24;
  const duration = 1200 + 60 * (parameters.outage + parameters.watch), bins = Math.max(120, Math.round((right - left) / 1.5));
  const x = (s) => left + (right - left) * s / duration;
  const pack = (values, isMean) => {
    const made = [], rows = values.length, width = duration > 14400 ? 60 : 1, whole = Math.ceil(duration / width);
    for (let bin = 0; bin < bins; bin++) {
      const [from, to] = [Math.floor(bin * whole / bins), Math.floor((bin + 1) * whole / bins)];
      if (to > rows) break;
      let sum = 0;
      for (let i = from; i < to; i++) sum += values[i];
      made.push([x((from + to) / 2 * width), isMean ? sum / Math.max(to - from, 1) : values[to - 1]]);
    }
    return made;
  };
  const curves = [[ghost, " ghost"], [curve, ""]].filter(([one]) => one && one.sent.length)
    .map(([one, look]) => ({ sent: pack(one.sent, true), held: pack(one.held, false), look }));
  const capacity = curve?.capacity ?? (!curve || ghost?.load === curve.load ? ghost?.capacity : 0) ?? 0;
  const round = (n) => { const p = 10 ** Math.floor(Math.log10(n)); return [1, 2, 5, 10].find((m) => m * p >= n) * p; };
  const most = (key, least) => round(Math.max(least, ...curves.flatMap((one) => one[key].map((point) => point[1]))));
  const [mostSent, mostHeld] = [most("sent", capacity * 1.5 || 1), most("held", 1)];
  const ySent = (v) => top + upper * (1 - Math.sqrt(v / mostSent)), bottom = top + upper + gap, yHeld = (v) => bottom + lower * (1 - v / mostHeld);
  const path = (points, y) => points.map(([px, v], i) => `${i ? "L" : "M"}${px.toFixed(1)} ${y(v).toFixed(1)}`).join("");
  const ticks = (values, y) => values.map((v) => `<path class="axis" d="M${left} ${y(v)}H${right}"/><text x="${left - 6}" y="${y(v) + 4}" text-anchor="end">${v >= 1e6 ? v / 1e6 + "M" : v >= 1e4 ? v / 1000 + "k" : count(v)}</text>`).join("");
  const minutes = [];
  const step = (width < 500 ? 30 : 10) * Math.ceil(duration / 10800);
  for (let m = 0; m * 60 <= duration; m += step) minutes.push(`<text x="${x(m * 60)}" y="${height - 6}" text-anchor="${!m ? "start" : m * 60 > duration - 60 ? "end" : "middle"}">${m}${m ? "" : " min"}</text>`);
  const [from, to] = [x(1200), x(1200 + 60 * parameters.outage)];
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.innerHTML = `<rect class="incident" x="${from}" y="${top}" width="${to - from}" height="${upper + gap + lower}"/>`
    + ticks([0, mostSent / 10, mostSent / 2, mostSent], ySent) + ticks([0, mostHeld], yHeld)
    + `<text x="${left + 4}" y="${top - 4}">requests a second (${width < 500 ? "√" : "square-root scale"})</text><text x="${left + 4}" y="${bottom - 6}">events that phones hold</text>`
    + (curves.length > 1 ? `<text x="${right}" y="${top - 4}" text-anchor="end">${width < 500 ? "dashed: before" : "dashed: the settings before"}</text>` : "")
    + (capacity ? `<path class="capacity" d="M${left} ${ySent(capacity)}H${right}"/><text class="capacity-label" x="${right}" y="${ySent(capacity) - 4}" text-anchor="end">capacity</text>` : "")
    + curves.map(({ sent, held, look }) => `<path class="backlog${look}" d="${path(held, yHeld)}"/><path class="curve${look}" d="${path(sent, ySent)}"/>`).join("")
    + minutes.join("");
}

// MARK: Take it along

async function copy(button, text) {
  const title = button.textContent;
  try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { button.textContent = "Select and copy it below"; }
  setTimeout(() => { button.textContent = title; }, 1500);
}
$("copy").addEventListener("click", () => copy($("copy"), $("json5").textContent));
$("link").addEventListener("click", () => copy($("link"), location.href));
$("save").addEventListener("click", () => {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([$("json5").textContent])), download: "playground.json5" });
  link.click();
  URL.revokeObjectURL(link.href);
});

// MARK: Beginning

buildControls();
readLink();
showControls();
draw();
if (typeof WebAssembly !== "object" || typeof Worker !== "function" || typeof DecompressionStream !== "function") {
  trouble("This browser has no WebAssembly, no Web Workers or can't unpack gzip, which this page needs: one of 2023 or later has them. The command line needs no browser.");
} else {
  try {
    worker = new Worker(URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" })));
    worker.onmessage = hear;
    worker.onerror = (event) => failed(event.message || "no worker");
    worker.postMessage({ engine });
    $("status").textContent = "The engine is unpacked …";
  } catch (error) {
    trouble(`This browser starts no Web Worker here (${error}): the command line needs none.`);
  }
}
addEventListener("hashchange", () => { const link = readLink(); showControls(); ask(link); });
addEventListener("resize", draw);
