// Draws every matrix of relxl: a grid of panels that share axes, scales, zoom, crosshair and pin.
// The buffer that it decodes is described in payload.py. Coordinates: a cell is (query row, key column) of the full
// matrix; a block is a cell of the picture that was sent, `pool` cells wide; a place in a panel is in CSS pixels from the
// corner of its cells.

const NUMBERS = "10.5px sans-serif"; // the font of labels that are numbers
const GAP = 8; // between columns, as in matrix_view.css
const DOUBLE = 300; // ms between two taps that belong together; a pin waits as long where they would reset a zoom
const views = new WeakMap(); // the element outlives a rerun, and with it zoom, pin and pointer

export default function ({ data, parentElement, setTriggerValue }) {
  let view = views.get(parentElement);
  if (!view || !view.root.isConnected) views.set(parentElement, (view = new MatrixView(parentElement)));
  view.update(decode(data), setTriggerValue);
}

function decode(bytes) {
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const start = 4 + new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, start - 4)));
  const [rows, cols] = header.cells;
  const hidden = new Uint8Array(rows * cols);
  const bits = new Uint8Array(buffer, start, (rows * cols + 7) >> 3);
  for (let i = 0; i < hidden.length; i++) hidden[i] = (bits[i >> 3] >> (7 - (i & 7))) & 1;
  const Levels = header.bits === 8 ? Int8Array : Int16Array;
  const length = { matrix: rows * cols, strip: cols, curve: rows + cols - 1 };
  for (const panel of header.panels) panel.levels = new Levels(buffer, start + panel.offset, length[panel.kind]);
  let checksum = 0;
  for (const word of new Uint32Array(buffer, 0, buffer.byteLength >> 2)) checksum = (Math.imul(checksum, 31) + word) >>> 0;
  const most = header.bits === 8 ? 126 : 32766;
  const beyond = { [most + 1]: Infinity, [-most - 1]: -Infinity, [-most - 2]: NaN };
  return { ...header, hidden, most, beyond, checksum };
}

// Where the level of block (row, col) stands in a panel's levels.
const PLACE = {
  matrix: (row, col, cols) => row * cols + col,
  strip: (row, col) => col,
  curve: (row, col, cols) => row - col + cols - 1,
};

// The smallest of 1, 2, 4, 8, ... at which labels that need `room` pixels do not touch.
const stepFor = (pixels, room) => 2 ** Math.max(Math.ceil(Math.log2(room / pixels)), 0);
const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

const parse = (colour) => colour.match(/\w\w/g).map((part) => parseInt(part, 16)); // "#rrggbb"
const word = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0; // a little-endian RGBA pixel

// 256 colours of a scale.
function ramp(stops) {
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const next = Math.max(stops.findIndex(([place]) => place >= i / 255), 1);
    const [[from, one], [to, other]] = [stops[next - 1], stops[next]];
    const [a, b, share] = [parse(one), parse(other), (i / 255 - from) / (to - from)];
    return word(a.map((value, channel) => Math.round(value + share * (b[channel] - value))));
  });
}

function number(value) {
  if (value === null) return "–";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e4) ? value.toExponential(2) : String(Number(value.toPrecision(3)));
  return text.replace("-", "−");
}

function element(tag, className = "", text = "", colour = "") {
  const made = Object.assign(document.createElement(tag), { className, textContent: text });
  made.style.color = colour;
  return made;
}

// Straight lines, each [x, y, end x, end y], as one path.
function lines(segments) {
  const path = new Path2D();
  for (const [x, y, endX, endY] of segments) { path.moveTo(x, y); path.lineTo(endX, endY); }
  return path;
}

function stroke(context, path, colour, width = 1) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke(path);
}

// Whether a part of the matrix, [row, end, column, end], holds all of another.
const covers = (a, b) => a[0] <= b[0] && a[1] >= b[1] && a[2] <= b[2] && a[3] >= b[3];

class MatrixView {
  constructor(parent) {
    this.root = parent.querySelector(".view");
    this.parts = Object.fromEntries([...this.root.querySelectorAll("[class]")].map((part) => [part.className, part]));
    this.panels = [];
    this.pointer = null; // the cell under the pointer
    this.over = 0; // the panel that it is in
    this.drag = null; // { panel, x, y, toX, toY } while a button or one finger is down
    this.pinch = null; // what two fingers had between them when they came down: { cell, spread, zoom }
    this.tapped = 0; // when that was a tap last
    this.count = 0; // pictures taken so far
    new ResizeObserver(() => this.resize()).observe(this.root);
    this.root.addEventListener("keydown", (event) => this.key(event));
    for (const type of ["touchstart", "touchmove", "touchend", "touchcancel"]) {
      this.parts.grid.addEventListener(type, (event) => this.touch(event), { passive: false });
    }
    this.parts.in.onclick = () => this.zoomBy(0.5);
    this.parts.out.onclick = () => this.zoomBy(2);
    this.parts.all.onclick = () => this.zoomTo(this.whole());
    this.parts.save.onclick = () => this.save();
  }

  // Take a new picture. Zoom stays where the matrix has the same size; the pin is Python's.
  update(picture, send) {
    const before = this.picture;
    Object.assign(this, { picture, send });
    // an answer to an older request must not undo a newer pin; after three seconds Python is right all the same
    const late = this.sent && performance.now() - this.sent.time < 3000 && String(picture.pin) !== String(this.sent.cell);
    if (!this.pinTimer && !late) Object.assign(this, { pin: picture.pin, sent: null });
    if (String(before?.shape) !== String(picture.shape)) {
      this.zoom = [...picture.window];
      this.pointer = this.pinch = null;
    }
    if (!this.pointer) this.over = picture.chosen ?? 0;
    this.over = Math.min(this.over, picture.panels.length - 1);
    for (const name of ["faint", "grid"]) this.root.style.setProperty(`--${name}`, picture.theme[name]);
    this.root.setAttribute("aria-label", picture.label);
    for (const name of ["in", "out", "all"]) this.parts[name].ariaLabel = this.parts[name].title = picture.texts[`zoom_${name}`];
    this.parts.save.ariaLabel = this.parts.save.title = picture.texts.save;
    // for those who wait for a picture: which one it is, and in draw() that it is on the screen
    this.root.dataset.shown = picture.checksum;
    this.root.dataset.picture = ++this.count;
    this.build();
    this.resize();
  }

  build() {
    const { panels, pool, texts } = this.picture;
    while (this.panels.length > panels.length) this.panels.pop().box.remove();
    while (this.panels.length < panels.length) this.panels.push(this.makePanel());
    this.ramps = this.picture.scales.map((scale) => ramp(this.picture.theme[scale.kind]));
    this.counts = { nan: 0, plus_inf: 0, minus_inf: 0 };
    panels.forEach((panel, i) => {
      const { title, canvas } = this.panels[i];
      const formula = element("i");
      const pieces = panel.formula.split(/<sub>(.*?)<\/sub>/); // every other piece is a subscript
      formula.append(...pieces.map((piece, place) => (place % 2 ? element("sub", "", piece) : piece)));
      title.replaceChildren(panel.chosen ? "▸ " : "", element("b", "", panel.title, panel.colour), formula);
      canvas.setAttribute("aria-label", panel.title);
      this.panels[i].bitmap = this.paintBitmap(panel, this.panels[i].bitmap);
    });
    this.buildBars();
    const hint = matchMedia("(pointer: coarse)").matches ? texts.hint_touch : texts.hint;
    this.parts.note.textContent = pool > 1 ? texts.pooled.replaceAll("{n}", pool) : hint;
  }

  makePanel() {
    const box = element("div", "panel");
    const title = element("div", "title");
    const canvas = element("canvas");
    canvas.setAttribute("role", "img");
    box.append(title, canvas);
    this.parts.grid.append(box);
    const panel = { box, title, canvas, context: canvas.getContext("2d") };
    canvas.addEventListener("pointermove", (event) => this.move(panel, event));
    canvas.addEventListener("pointerenter", () => { this.over = this.panels.indexOf(panel); });
    canvas.addEventListener("pointerleave", () => { this.pointer = null; this.draw(); });
    canvas.addEventListener("pointerdown", (event) => this.down(panel, event));
    canvas.addEventListener("pointerup", (event) => this.up(panel, event));
    canvas.addEventListener("pointercancel", () => { this.drag = null; this.draw(); });
    canvas.addEventListener("dblclick", () => this.reset());
    return panel;
  }

  // Paint the blocks of a panel, one pixel each.
  paintBitmap(panel, canvas = document.createElement("canvas")) {
    const { cells: [rows, cols], scales, theme, most } = this.picture;
    Object.assign(canvas, { width: cols, height: rows });
    const context = canvas.getContext("2d");
    const image = context.createImageData(cols, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const scale = scales[panel.scale];
    const colours = this.ramps[panel.scale];
    const diverging = scale.kind === "diverging";
    const factor = (panel.step / scale.limit) * (diverging ? 127.5 : 255);
    const offset = diverging ? 127.5 : 0;
    const [nan, plus, minus] = [theme.nan, theme.plus_inf, theme.minus_inf].map((colour) => word(parse(colour)));
    const place = PLACE[panel.kind];
    for (let row = 0, i = 0; row < rows; row++) {
      for (let col = 0; col < cols; col++, i++) {
        const level = panel.levels[place(row, col, cols)];
        if (Math.abs(level) <= most) pixels[i] = colours[clamp(Math.round(level * factor + offset), 0, 255)];
        else if (level < -most - 1) { pixels[i] = nan; this.counts.nan++; }
        else { pixels[i] = level > 0 ? plus : minus; this.counts[level > 0 ? "plus_inf" : "minus_inf"]++; }
      }
    }
    context.putImageData(image, 0, 0);
    return canvas;
  }

  buildBars() {
    const { scales, theme, texts } = this.picture;
    const bars = scales.map(({ kind, limit, label }) => {
      const bar = element("div", "bar");
      const ramp = element("div", "ramp");
      ramp.style.background = `linear-gradient(to top, ${theme[kind].map(([place, colour]) => `${colour} ${100 * place}%`)})`;
      const low = kind === "diverging" ? -limit : 0;
      bar.append(ramp, element("span", "top", number(limit)), element("span", "middle", label), element("span", "bottom", number(low)));
      return bar;
    });
    for (const name of ["nan", "plus_inf", "minus_inf"]) {
      const mark = element("div", "marks");
      mark.append(element("i", "", "", theme[name]), `${texts[name]}: ${this.counts[name]}`);
      if (this.counts[name]) bars.push(mark);
    }
    this.parts.bars.replaceChildren(...bars);
  }

  // Fit the canvases to the page; cells are square unless a panel would become too flat or too tall.
  resize() {
    if (!this.picture) return;
    const { shape: [rows, cols], columns, axes } = this.picture;
    const { grid } = this.parts;
    const ratio = window.devicePixelRatio || 1;
    const edge = axes ? 5.5 : 0.5; // round every panel; the outer ones have room for labels and the names of the axes
    const [left, bottom] = axes ? [38.5, 30.5] : [edge, edge];
    const width = Math.floor((grid.clientWidth - GAP * (columns - 1) - left - (2 * columns - 1) * edge) / columns);
    if (width < 8) return;
    const height = Math.round(clamp((width * rows) / cols, width * 0.62, 420));
    grid.style.gridTemplateColumns = `${left + width + edge}px` + ` ${width + 2 * edge}px`.repeat(columns - 1);
    this.panels.forEach((panel, i) => {
      panel.left = i % columns ? edge : left;
      panel.bottom = i + columns < this.panels.length ? edge : bottom;
      const high = edge + height + panel.bottom;
      const pixels = { width: Math.round((panel.left + width + edge) * ratio), height: Math.round(high * ratio) };
      panel.canvas.style.height = `${high}px`;
      if (panel.canvas.width !== pixels.width || panel.canvas.height !== pixels.height) Object.assign(panel.canvas, pixels);
    });
    this.area = { width, height, edge, ratio };
    this.draw();
  }

  draw() {
    if (this.waiting || !this.area) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      const marks = this.paintMarks();
      this.panels.forEach((panel, i) => this.drawPanel(panel, this.picture.panels[i], marks));
      this.showReadout();
      this.root.dataset.painted = this.count;
    });
  }

  // Put all that is seen, panels with their titles and the scales, into one PNG.
  save() {
    const { ratio } = this.area;
    const whole = this.root.getBoundingClientRect();
    const picture = element("canvas");
    Object.assign(picture, { width: Math.round(whole.width * ratio), height: Math.round(whole.height * ratio) });
    const context = picture.getContext("2d");
    const style = getComputedStyle(this.root);
    const at = (part) => {
      const { left, top, width, height } = part.getBoundingClientRect();
      return [left - whole.left, top - whole.top, width, height];
    };
    const write = (part, weight = "") => {
      const [left, top, , height] = at(part);
      const look = getComputedStyle(part);
      context.font = `${weight} ${look.fontSize} ${look.fontFamily}`;
      context.fillStyle = look.color;
      context.fillText(part.textContent, left, top + height * 0.75);
    };
    context.scale(ratio, ratio);
    context.fillStyle = style.getPropertyValue("--st-background-color") || "#fff";
    context.fillRect(0, 0, whole.width, whole.height);
    for (const { title, canvas } of this.panels) {
      write(title, "600");
      context.drawImage(canvas, ...at(canvas));
    }
    this.picture.scales.forEach(({ kind }, i) => {
      const bar = this.parts.bars.children[i];
      const [left, top, width, height] = at(bar.querySelector(".ramp"));
      const colours = context.createLinearGradient(0, top + height, 0, top);
      for (const [place, colour] of this.picture.theme[kind]) colours.addColorStop(place, colour);
      context.fillStyle = colours;
      context.fillRect(left, top, width, height);
      bar.querySelectorAll("span").forEach((part) => write(part));
    });
    picture.toBlob((blob) => {
      const link = element("a");
      link.href = URL.createObjectURL(blob);
      link.download = "relxl.png";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  inside(row, col) { return row >= this.zoom[0] && row < this.zoom[1] && col >= this.zoom[2] && col < this.zoom[3]; }
  toX(col) { return ((col - this.zoom[2]) / (this.zoom[3] - this.zoom[2])) * this.area.width; }
  toY(row) { return ((row - this.zoom[0]) / (this.zoom[1] - this.zoom[0])) * this.area.height; }
  toCol(x) { return this.zoom[2] + (x / this.area.width) * (this.zoom[3] - this.zoom[2]); }
  toRow(y) { return this.zoom[0] + (y / this.area.height) * (this.zoom[1] - this.zoom[0]); }

  // Hatch and outline of the hidden cells, the memory seam and the wall: the same for all panels, drawn once a zoom.
  paintMarks() {
    const { cells: [rows, cols], hidden, pool, window: [row0, , col0], shape, theme, seam, wall } = this.picture;
    const { two_walls: ahead } = this.picture;
    const { width, height, ratio } = this.area;
    const key = [this.zoom, width, height, ratio].join();
    if (this.marks && this.marks.picture === this.picture && this.marks.key === key) return this.marks.canvas;
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: Math.round((width + 1) * ratio), height: Math.round((height + 1) * ratio) });
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const region = new Path2D();
    const [hatch, outline] = [[], []];
    const at = (row, col) => row >= 0 && col >= 0 && row < rows && col < cols && hidden[row * cols + col];
    const x = (col) => this.toX(col0 + Math.min(col * pool, shape[1] - col0));
    const y = (row) => this.toY(row0 + Math.min(row * pool, shape[0] - row0));
    for (let row = 0; row <= rows; row++) {
      for (let col = 0; col <= cols; col++) {
        const here = at(row, col);
        if (row < rows && here !== at(row, col - 1) && col > 0 && col < cols) outline.push([x(col), y(row), x(col), y(row + 1)]);
        if (col < cols && here !== at(row - 1, col) && row > 0 && row < rows) outline.push([x(col), y(row), x(col + 1), y(row)]);
        if (here && !at(row, col - 1)) {
          let end = col;
          while (at(row, end)) end++;
          region.rect(x(col), y(row), x(end) - x(col), y(row + 1) - y(row));
        }
      }
    }
    for (let start = -height; start < width; start += 7) hatch.push([start, height, start + height, 0]);
    context.save();
    context.clip(region);
    stroke(context, lines(hatch), theme.hatch);
    context.restore();
    stroke(context, lines(outline), theme.faint);
    context.setLineDash([3, 3]);
    if (seam > 0) stroke(context, lines([[this.toX(seam), 0, this.toX(seam), height]]), theme.ink, 1.5);
    context.setLineDash([]);
    if (wall !== null) {
      const steps = []; // a stair along the first distance that is not told apart
      for (let row = 0; row < shape[0]; row++) {
        const own = shape[1] - shape[0] + row; // where the query itself stands
        const [col, after] = [own - wall, own + wall + 1];
        if (col > 0) {
          steps.push([this.toX(col), this.toY(row), this.toX(col), this.toY(row + 1)]);
          steps.push([this.toX(col - 1), this.toY(row), this.toX(col), this.toY(row)]);
        }
        if (ahead && after < shape[1]) {
          steps.push([this.toX(after), this.toY(row), this.toX(after), this.toY(row + 1)]);
          steps.push([this.toX(after), this.toY(row + 1), this.toX(after + 1), this.toY(row + 1)]);
        }
      }
      stroke(context, lines(steps), theme.halo, 4);
      stroke(context, lines(steps), theme.alarm, 2);
    }
    this.marks = { picture: this.picture, key, canvas };
    return canvas;
  }

  drawPanel(panel, { chosen }, marks) {
    const { pool, window: [row0, , col0], theme } = this.picture;
    const { area: { width, height, edge, ratio }, drag, pin } = this;
    const { canvas, context, bitmap } = panel;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(ratio, 0, 0, ratio, panel.left * ratio, edge * ratio);
    context.imageSmoothingEnabled = false;
    const frame = new Path2D();
    frame.rect(0, 0, width, height);
    context.save();
    context.clip(frame);
    const [x, y] = [this.toX(col0), this.toY(row0)];
    context.drawImage(bitmap, x, y, this.toX(col0 + bitmap.width * pool) - x, this.toY(row0 + bitmap.height * pool) - y);
    context.drawImage(marks, 0, 0, marks.width / ratio, marks.height / ratio);
    if (this.pointer) {
      const [px, py] = [this.toX(this.pointer[1] + 0.5), this.toY(this.pointer[0] + 0.5)];
      context.globalAlpha = 0.45;
      stroke(context, lines([[0, py, width, py], [px, 0, px, height]]), theme.accent);
      context.globalAlpha = 1;
    }
    context.strokeStyle = theme.accent;
    if (drag?.panel === panel && drag.toX !== undefined) context.strokeRect(drag.x, drag.y, drag.toX - drag.x, drag.toY - drag.y);
    context.restore();
    if (pin && this.inside(...pin)) {
      const ring = new Path2D();
      ring.arc(this.toX(pin[1] + 0.5), this.toY(pin[0] + 0.5), Math.max(5, 0.5 * (this.toX(1) - this.toX(0))), 0, 2 * Math.PI);
      stroke(context, ring, theme.halo, 4);
      stroke(context, ring, theme.accent, 2);
    }
    stroke(context, frame, chosen ? theme.accent : theme.grid);
    this.drawAxes(context, panel.left > edge, panel.bottom > edge);
  }

  // Label tokens where they fit, else every so many places, and say which axis is which; outer panels only.
  drawAxes(context, left, bottom) {
    const { tokens, shape, theme, texts } = this.picture;
    const { area: { width, height }, zoom } = this;
    const labels = (step, from, to, first, write) => {
      context.font = step === 1 ? "11px monospace" : NUMBERS;
      for (let i = Math.ceil(from / step) * step; i + 0.5 < to; i += step) write(step === 1 ? tokens[first + i] : String(i), i + 0.5);
      context.font = NUMBERS;
    };
    context.fillStyle = theme.faint;
    context.textBaseline = "middle";
    if (left) {
      const step = stepFor(height / (zoom[1] - zoom[0]), 11);
      context.textAlign = "right";
      labels(step, zoom[0], zoom[1], shape[1] - shape[0], (text, row) => context.fillText(text, -4, this.toY(row), 22));
      context.textAlign = "center";
      context.rotate(-Math.PI / 2);
      context.fillText(texts.query, -height / 2, -32);
      context.rotate(Math.PI / 2);
    }
    if (bottom) {
      const pixels = width / (zoom[3] - zoom[2]);
      const step = pixels >= 9 ? 1 : stepFor(pixels, 26);
      context.textAlign = "center";
      labels(step, zoom[2], zoom[3], 0, (text, col) => context.fillText(text, this.toX(col), height + 10));
      context.fillText(texts.key, width / 2, height + 23);
    }
  }

  value(panel, query, key) {
    const { cells: [rows, cols], pool, window: [row0, , col0], beyond } = this.picture;
    const [row, col] = [Math.floor((query - row0) / pool), Math.floor((key - col0) / pool)];
    if (row < 0 || col < 0 || row >= rows || col >= cols) return null; // beyond the window that was sent
    const level = panel.levels[PLACE[panel.kind](row, col, cols)];
    return beyond[level] ?? level * panel.step;
  }

  showReadout() {
    const { panels, texts, tokens, shape } = this.picture;
    const cell = this.pointer || this.pin;
    if (!cell) return this.parts.readout.replaceChildren(texts.empty);
    const [query, key] = cell;
    const mem = shape[1] - shape[0];
    const parts = [`${texts.query} ${query} `, element("code", "", tokens[mem + query]), ` → ${texts.key} ${key} `];
    parts.push(element("code", "", tokens[key]), `, ${texts.distance} ${number(mem + query - key)}: `);
    for (const panel of panels.length <= 8 ? panels : [panels[this.over]]) {
      parts.push(element("span", "", panel.title, panel.colour), element("b", "", number(this.value(panel, query, key))));
    }
    this.parts.readout.replaceChildren(...parts);
  }

  // The place of an event or a finger in a panel.
  placeIn(panel, { clientX, clientY }) {
    const box = panel.canvas.getBoundingClientRect();
    const zoom = box.width / panel.canvas.offsetWidth || 1; // of a page that is shown larger
    return [(clientX - box.left) / zoom - panel.left, (clientY - box.top) / zoom - this.area.edge];
  }

  cellAt(x, y) {
    const cell = [Math.floor(this.toRow(y)), Math.floor(this.toCol(x))];
    return this.inside(...cell) ? cell : null;
  }

  down(panel, event) {
    if (event.button !== 0) return;
    this.root.focus({ preventScroll: true });
    if (event.pointerType === "mouse") panel.canvas.setPointerCapture(event.pointerId);
    const [x, y] = this.placeIn(panel, event);
    this.drag = { panel, x, y };
  }

  move(panel, event) {
    if (this.pinch) return;
    const [x, y] = this.placeIn(panel, event);
    this.pointer = this.cellAt(x, y);
    if (this.drag && event.pointerType !== "touch") [this.drag.toX, this.drag.toY] = [x, y];
    this.draw();
  }

  up(panel, event) {
    const { drag, zoom } = this;
    this.drag = null;
    if (!drag) return;
    const [x, y] = this.placeIn(panel, event);
    const touch = event.pointerType === "touch";
    const still = touch ? 12 : 4;
    const [wide, high] = [Math.abs(x - drag.x) > still, Math.abs(y - drag.y) > still];
    if (!wide && !high) {
      const cell = this.cellAt(x, y);
      const second = touch && event.timeStamp - this.tapped < DOUBLE; // of taps, not every browser makes a dblclick
      this.tapped = event.timeStamp;
      if (second && this.isZoomed()) this.reset();
      else if (cell) this.setPin(cell, this.isZoomed() ? DOUBLE : 0); // a double-click resets the zoom and pins nothing
    } else if (wide && high && !touch) {
      const [row, rowEnd] = [drag.y, y].sort((a, b) => a - b).map((edge) => clamp(this.toRow(edge), zoom[0], zoom[1]));
      const [col, colEnd] = [drag.x, x].sort((a, b) => a - b).map((edge) => clamp(this.toCol(edge), zoom[2], zoom[3]));
      this.zoomTo([Math.floor(row), Math.ceil(rowEnd), Math.floor(col), Math.ceil(colEnd)]);
    } else this.draw(); // a stroke, not a rectangle
  }

  // Two fingers zoom all panels around their middle and move them; the exact window is asked for when one is lifted.
  touch(event) {
    const [one, two] = [...event.touches].filter(({ target }) => this.parts.grid.contains(target));
    if (!two) {
      if (this.pinch) this.zoomTo(this.zoom.map(Math.round));
      this.pinch = null;
      return;
    }
    if (event.cancelable) event.preventDefault();
    const panel = this.panels.find(({ box }) => box.contains(one.target)) || this.panels[0];
    const middle = { clientX: (one.clientX + two.clientX) / 2, clientY: (one.clientY + two.clientY) / 2 };
    const [x, y] = this.placeIn(panel, middle);
    const spread = Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY) || 1;
    if (event.type !== "touchmove" || !this.pinch) {
      this.pinch = { cell: [this.toRow(y), this.toCol(x)], spread, zoom: this.zoom };
      this.drag = this.pointer = null;
    }
    const shares = [y / this.area.height, x / this.area.width];
    this.zoom = this.around(this.pinch.cell, shares, this.pinch.zoom, this.pinch.spread / spread);
    this.draw();
  }

  // The part that is `factor` times a zoom in size and has a cell at such shares of its height and width.
  around(cell, shares, zoom, factor) {
    return this.picture.shape.flatMap((all, axis) => {
      const size = clamp((zoom[2 * axis + 1] - zoom[2 * axis]) * factor, 2, all);
      const start = clamp(cell[axis] - shares[axis] * size, 0, all - size);
      return [start, start + size];
    });
  }

  zoomBy(factor) {
    const { pin, zoom } = this;
    const middle = pin || [(zoom[0] + zoom[1]) / 2, (zoom[2] + zoom[3]) / 2];
    this.zoomTo(this.around(middle, [0.5, 0.5], zoom, factor).map(Math.round));
  }

  // Zoom at once with what is here; ask for the exact window where the picture is pooled or does not cover it.
  zoomTo(zoom) {
    if (zoom[1] <= zoom[0] || zoom[3] <= zoom[2]) return this.draw();
    this.zoom = zoom;
    const { pool, window } = this.picture;
    if (pool > 1 || !covers(window, zoom)) this.send("window", this.isZoomed() ? zoom : null);
    this.draw();
  }

  whole() { return [0, this.picture.shape[0], 0, this.picture.shape[1]]; }
  isZoomed() { return !covers(this.zoom, this.whole()); }

  reset() {
    if (!this.isZoomed()) return;
    clearTimeout(this.pinTimer);
    this.pinTimer = 0;
    this.pin = this.picture.pin;
    this.zoomTo(this.whole());
  }

  // Pin at once here, and tell Python after `delay`: a held arrow key is one request, not thirty.
  setPin(cell, delay) {
    this.pin = cell;
    this.draw();
    clearTimeout(this.pinTimer);
    this.pinTimer = setTimeout(() => {
      this.pinTimer = 0;
      this.sent = { cell, time: performance.now() };
      this.send("pin", { cell, panel: this.over });
    }, delay);
  }

  key(event) {
    if (event.target !== this.root || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 10 : 1;
    const moves = { ArrowUp: [-step, 0], ArrowDown: [step, 0], ArrowLeft: [0, -step], ArrowRight: [0, step] };
    const [rows, cols] = this.picture.shape;
    if (event.key in moves) {
      const [row, col] = this.pin || [rows - 1, cols - 1];
      const [down, right] = this.pin ? moves[event.key] : [0, 0];
      const cell = [clamp(row + down, 0, rows - 1), clamp(col + right, 0, cols - 1)];
      this.pointer = null;
      this.setPin(cell, 150);
      requestAnimationFrame(() => { this.parts.spoken.textContent = this.parts.readout.textContent; });
    } else if (event.key === "Escape") {
      this.setPin(null, 0);
    } else if (event.key === "PageUp" || event.key === "PageDown") {
      this.send("head", event.key === "PageUp" ? -1 : 1);
    } else if (event.key === "+" || event.key === "-") {
      this.zoomBy(event.key === "+" ? 0.5 : 2);
    } else return;
    event.preventDefault();
    event.stopPropagation(); // a shortcut of the page must not act as well
  }
}
