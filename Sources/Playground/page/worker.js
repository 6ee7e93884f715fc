// Runs the engine slice by slice, so that a new question is heard between two.
let engine = null, bytes = null, job = 0;

async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

// A module that trapped is not used again.
const start = async () => { engine ??= (await WebAssembly.instantiate(bytes, {})).instance.exports; };
const numbers = (count) => count ? new Float64Array(engine.memory.buffer, engine.numbers(), count).slice() : new Float64Array(0);
const text = () => new TextDecoder().decode(new Uint8Array(engine.memory.buffer, engine.output(), engine.output_count()));
const rest = () => new Promise((resolve) => { const c = new MessageChannel(); c.port1.onmessage = resolve; c.port2.postMessage(0); });

async function run({ id, parameters, patient }) {
  job = id;
  await start();
  if (job !== id) return;
  const input = new TextEncoder().encode(parameters);
  const place = engine.room(input.length);
  new Uint8Array(engine.memory.buffer, place, input.length).set(input);
  const isGood = engine.begin();
  postMessage({ id, [isGood ? "json5" : "wrong"]: text() });
  if (!isGood) return;
  const begun = performance.now();
  let span = 60, shown = begun, share = 0, isCurveKnown = false;
  while (share < 1) {
    const before = performance.now();
    share = engine.advance(span);
    const now = performance.now();
    span = Math.max(1, Math.min(3600, Math.round(span * Math.max(.25, Math.min(4, 25 / Math.max(now - before, .5))))));
    const isWhole = share >= 1 / 3;
    if (!isCurveKnown && (isWhole || now - shown > 80)) {
      const rows = engine.series();
      postMessage({ id, share, series: numbers(2 * rows), isWhole, milliseconds: now - begun });
      [shown, isCurveKnown] = [now, isWhole];
    } else if (now - shown > 80) {
      postMessage({ id, share });
      shown = now;
    }
    const whole = (now - begun) / share;
    if (!patient && now - begun > 1500 && whole > 60000 && share < 1) return postMessage({ id, tooLong: whole / 1000 });
    await rest();
    if (job !== id) return;
  }
  engine.figures();
  const figures = numbers(10);
  let csv;
  if (patient === "csv") { engine.file(0); csv = text(); }
  postMessage({ id, figures, csv, milliseconds: performance.now() - begun });
}

onmessage = async ({ data }) => {
  try {
    if (data.engine) {
      bytes = await unpack(data.engine);
      await start();
      postMessage({ ready: true });
    } else {
      await run(data);
    }
  } catch (error) {
    engine = null;
    postMessage({ id: data.id, failed: String(error) });
  }
};
