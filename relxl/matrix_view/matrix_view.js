// Draws every matrix of relxl: a grid of panels that share axes, scales, zoom, crosshair and pin.
// The buffer that it decodes is described in payload.py. Coordinates: a cell is (query row, key column) of the full
// matrix; a block is a cell of the picture that was sent, `pool` cells wide; places on a canvas are CSS pixels.

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
  return { ...header, hidden, most: header.bits === 8 ? 126 : 32766, checksum };
}

// Where the level of block (row, col) stands in a panel's levels.
const PLACE = {
  matrix: (row, col, cols) => row * cols + col,
  strip: (row, col) => col,
  curve: (row, col, cols) => row - col + cols - 1,
};

const parse = (colour) => colour.match(/\w\w/g).map((part) => parseInt(part, 16)); // "#rrggbb"

// 256 colours of a scale as little-endian RGBA words.
function ramp(stops) {
  const colours = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const at = i / 255;
    const next = Math.max(stops.findIndex(([place]) => place >= at), 1);
    const [[from, a], [to, b]] = [stops[next - 1], stops[next]];
    const [one, other] = [parse(a), parse(b)];
    const mix = one.map((value, channel) => Math.round(value + ((at - from) / (to - from)) * (other[channel] - value)));
    colours[i] = (255 << 24) | (mix[2] << 16) | (mix[1] << 8) | mix[0];
  }
  return colours;
}

const word = (colour) => { const [r, g, b] = parse(colour); return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0; };

function number(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e4) ? value.toExponential(2) : String(Number(value.toPrecision(3)));
  return text.replace("-", "−");
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

class MatrixView {
  constructor(parent) {
    this.root = parent.querySelector(".view");
    this.parts = Object.fromEntries([...this.root.querySelectorAll("[class]")].map((part) => [part.className, part]));
    this.panels = [];
    this.pointer = null; // the cell under the pointer
    this.over = 0; // the panel that it is in
    this.drag = null; // { panel, x, y, toX, toY } while a button is down
    this.count = 0; // pictures taken so far
    new ResizeObserver(() => this.resize()).observe(this.root);
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.parts.in.onclick = () => this.zoomBy(0.5);
    this.parts.out.onclick = () => this.zoomBy(2);
    this.parts.all.onclick = () => this.zoomTo(null);
  }

  // Take a new picture. Zoom stays where the matrix has the same size; the pin is Python's.
  update(picture, send) {
    const before = this.picture;
    this.picture = picture;
    this.send = send;
    // an answer to an older request must not undo a newer pin; after three seconds Python is right all the same
    const late = this.sent && performance.now() - this.sent.time < 3000 && String(picture.pin) !== String(this.sent.cell);
    if (!this.pinTimer && !late) {
      this.pin = picture.pin;
      this.sent = null;
    }
    const [rows, cols] = picture.shape;
    const same = before && before.shape[0] === rows && before.shape[1] === cols;
    if (!same) {
      this.zoom = [...picture.window];
      this.pointer = null;
    }
    if (!this.pointer) this.over = picture.chosen ?? 0;
    this.over = Math.min(this.over, picture.panels.length - 1);
    if (before?.theme.dark !== picture.theme.dark) {
      for (const [name, colour] of Object.entries(picture.theme)) {
        if (typeof colour === "string") this.root.style.setProperty(`--${name}`, colour);
      }
    }
    this.root.setAttribute("aria-label", picture.label);
    this.parts.in.ariaLabel = this.parts.in.title = picture.texts.zoom_in;
    this.parts.out.ariaLabel = this.parts.out.title = picture.texts.zoom_out;
    this.parts.all.ariaLabel = this.parts.all.title = picture.texts.zoom_all;
    // for those who wait for a picture: which one it is, and in draw() that it is on the screen
    this.root.dataset.shown = picture.checksum;
    this.root.dataset.picture = ++this.count;
    this.build();
    this.resize();
  }

  build() {
    const { panels, columns } = this.picture;
    const grid = this.parts.grid;
    grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    while (this.panels.length > panels.length) this.panels.pop().box.remove();
    while (this.panels.length < panels.length) this.panels.push(this.makePanel());
    this.ramps = this.picture.scales.map((scale) => ramp(this.picture.theme[scale.kind]));
    this.counts = { nan: 0, inf: 0 };
    panels.forEach((panel, i) => {
      const { title, canvas } = this.panels[i];
      const bold = element("b", "", panel.title);
      bold.style.color = panel.colour;
      const formula = element("i");
      for (const piece of panel.formula.split(/(<sub>.*?<\/sub>)/)) {
        formula.append(piece.startsWith("<sub>") ? element("sub", "", piece.slice(5, -6)) : piece);
      }
      title.replaceChildren(...(this.picture.chosen === i ? ["▸ "] : []), bold, formula);
      canvas.setAttribute("aria-label", panel.title);
      this.panels[i].bitmap = this.paintBitmap(panel, this.panels[i].bitmap);
    });
    this.buildBars();
    const pooled = this.picture.pool > 1;
    this.parts.note.textContent = pooled ? this.picture.texts.pooled.replaceAll("{n}", this.picture.pool) : this.picture.texts.hint;
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
    canvas.width = cols;
    canvas.height = rows;
    const context = canvas.getContext("2d");
    const image = context.createImageData(cols, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const scale = scales[panel.scale];
    const colours = this.ramps[panel.scale];
    const diverging = scale.kind === "diverging";
    const factor = (panel.step / scale.limit) * (diverging ? 127.5 : 255);
    const offset = diverging ? 127.5 : 0;
    const [nan, plus, minus] = [word(theme.nan), word(theme.plus_inf), word(theme.minus_inf)];
    const place = PLACE[panel.kind];
    for (let row = 0, i = 0; row < rows; row++) {
      for (let col = 0; col < cols; col++, i++) {
        const level = panel.levels[place(row, col, cols)];
        if (level > most) { pixels[i] = plus; this.counts.inf++; }
        else if (level < -most) { const missing = level < -most - 1; pixels[i] = missing ? nan : minus; this.counts[missing ? "nan" : "inf"]++; }
        else pixels[i] = colours[Math.min(Math.max(Math.round(level * factor + offset), 0), 255)];
      }
    }
    context.putImageData(image, 0, 0);
    return canvas;
  }

  buildBars() {
    const { scales, theme, texts } = this.picture;
    const bars = scales.map((scale, i) => {
      const bar = element("div", "bar");
      const ramp = element("canvas", "ramp");
      ramp.width = 1;
      ramp.height = 256;
      ramp.style.cssText = "width: 10px; height: 128px; cursor: default";
      const context = ramp.getContext("2d");
      const image = context.createImageData(1, 256);
      new Uint32Array(image.data.buffer).set([...this.ramps[i]].reverse());
      context.putImageData(image, 0, 0);
      const low = scale.kind === "diverging" ? -scale.limit : 0;
      bar.append(ramp, element("span", "top", number(scale.limit)), element("span", "middle", scale.label), element("span", "bottom", number(low)));
      return bar;
    });
    for (const [name, colour] of [["nan", theme.nan], ["inf", theme.plus_inf]]) {
      if (!this.counts[name]) continue;
      const mark = element("div", "marks");
      const swatch = element("i");
      swatch.style.background = colour;
      mark.append(swatch, `${texts[name]}: ${this.counts[name]}`);
      bars.push(mark);
    }
    this.parts.bars.replaceChildren(...bars);
  }

  // Fit the canvases to their column; cells are square unless a panel would become too flat or too tall.
  resize() {
    if (!this.picture) return;
    const [rows, cols] = this.picture.shape;
    const { columns, axes } = this.picture;
    const ratio = window.devicePixelRatio || 1;
    const margin = axes ? { left: 28, right: 6, top: 5, bottom: 18 } : { left: 0, right: 1, top: 0.5, bottom: 0 };
    const column = (this.parts.grid.clientWidth - 9.6 * (columns - 1)) / columns;
    const inner = column - margin.left - margin.right;
    const height = Math.round(Math.min(Math.max((inner * rows) / cols, inner * 0.62), 420) + margin.top + margin.bottom);
    for (const { canvas } of this.panels) {
      const [wide, high] = [Math.round(column * ratio), Math.round(height * ratio)];
      canvas.style.height = `${height}px`;
      if (canvas.width !== wide) canvas.width = wide; // setting a size clears the canvas
      if (canvas.height !== high) canvas.height = high;
    }
    this.area = { x: margin.left, y: margin.top, width: inner, height: height - margin.top - margin.bottom - 1, ratio };
    this.draw();
  }

  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      if (!this.area || this.area.width < 8) return;
      const marks = this.paintMarks();
      this.panels.forEach((panel, i) => this.drawPanel(panel, i, marks));
      this.showReadout();
      this.root.dataset.painted = this.count;
    });
  }

  inside(row, col) { return row >= this.zoom[0] && row < this.zoom[1] && col >= this.zoom[2] && col < this.zoom[3]; }
  toX(col) { return this.area.x + ((col - this.zoom[2]) / (this.zoom[3] - this.zoom[2])) * this.area.width; }
  toY(row) { return this.area.y + ((row - this.zoom[0]) / (this.zoom[1] - this.zoom[0])) * this.area.height; }

  // Hatch and outline of the hidden cells and the memory seam: the same for all panels, drawn once a zoom.
  paintMarks() {
    const { cells: [rows, cols], hidden, pool, window: [row0, , col0], shape, theme } = this.picture;
    const { area } = this;
    const key = [this.zoom, area.width, area.height, area.ratio].join();
    if (this.marks && this.marks.picture === this.picture && this.marks.key === key) return this.marks.canvas;
    const canvas = document.createElement("canvas");
    canvas.width = Math.round((area.x + area.width + 1) * area.ratio);
    canvas.height = Math.round((area.y + area.height + 1) * area.ratio);
    const context = canvas.getContext("2d");
    context.scale(area.ratio, area.ratio);
    context.beginPath();
    context.rect(area.x, area.y, area.width, area.height);
    context.clip();
    const region = new Path2D();
    const outline = new Path2D();
    const at = (row, col) => row >= 0 && col >= 0 && row < rows && col < cols && hidden[row * cols + col];
    const x = (col) => this.toX(col0 + Math.min(col * pool, shape[1] - col0));
    const y = (row) => this.toY(row0 + Math.min(row * pool, shape[0] - row0));
    for (let row = 0; row <= rows; row++) {
      for (let col = 0; col <= cols; col++) {
        const here = at(row, col);
        if (row < rows && here !== at(row, col - 1) && col > 0 && col < cols) { outline.moveTo(x(col), y(row)); outline.lineTo(x(col), y(row + 1)); }
        if (col < cols && here !== at(row - 1, col) && row > 0 && row < rows) { outline.moveTo(x(col), y(row)); outline.lineTo(x(col + 1), y(row)); }
        if (here && !at(row, col - 1)) {
          let end = col;
          while (at(row, end)) end++;
          region.rect(x(col), y(row), x(end) - x(col), y(row + 1) - y(row));
        }
      }
    }
    context.save();
    context.clip(region);
    context.strokeStyle = theme.hatch;
    context.beginPath();
    for (let start = -area.height; start < area.width; start += 7) {
      context.moveTo(area.x + start, area.y + area.height);
      context.lineTo(area.x + start + area.height, area.y);
    }
    context.stroke();
    context.restore();
    context.strokeStyle = theme.faint;
    context.stroke(outline);
    const { seam } = this.picture;
    if (seam > 0) {
      context.strokeStyle = theme.ink;
      context.setLineDash([3, 3]);
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(this.toX(seam), area.y);
      context.lineTo(this.toX(seam), area.y + area.height);
      context.stroke();
    }
    this.marks = { picture: this.picture, key, canvas };
    return canvas;
  }

  drawPanel({ canvas, context, bitmap }, i, marks) {
    const { pool, window: [row0, , col0], theme, columns, axes } = this.picture;
    const { area } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.scale(area.ratio, area.ratio);
    context.imageSmoothingEnabled = false;
    context.save();
    context.beginPath();
    context.rect(area.x, area.y, area.width, area.height);
    context.clip();
    const [x, y] = [this.toX(col0), this.toY(row0)];
    context.drawImage(bitmap, x, y, this.toX(col0 + bitmap.width * pool) - x, this.toY(row0 + bitmap.height * pool) - y);
    context.drawImage(marks, 0, 0, marks.width / area.ratio, marks.height / area.ratio);
    if (this.pointer) {
      context.strokeStyle = theme.accent;
      context.globalAlpha = 0.45;
      context.beginPath();
      const [px, py] = [this.toX(this.pointer[1] + 0.5), this.toY(this.pointer[0] + 0.5)];
      context.moveTo(area.x, py);
      context.lineTo(area.x + area.width, py);
      context.moveTo(px, area.y);
      context.lineTo(px, area.y + area.height);
      context.stroke();
      context.globalAlpha = 1;
    }
    if (this.drag && this.drag.panel.canvas === canvas && this.drag.toX !== undefined) {
      context.strokeStyle = theme.accent;
      context.strokeRect(this.drag.x, this.drag.y, this.drag.toX - this.drag.x, this.drag.toY - this.drag.y);
    }
    context.restore();
    if (this.pin && this.inside(...this.pin)) this.drawRing(context, ...this.pin);
    context.strokeStyle = theme.grid;
    context.strokeRect(area.x + 0.5, area.y, area.width, area.height);
    if (axes) this.drawAxes(context, i % columns === 0, i + columns >= this.panels.length);
  }

  drawRing(context, query, key) {
    const [x, y] = [this.toX(key + 0.5), this.toY(query + 0.5)];
    const radius = Math.max(5, 0.5 * (this.toX(1) - this.toX(0)));
    for (const [colour, width] of [[this.picture.theme.halo, 4], [this.picture.theme.accent, 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.stroke();
    }
    context.lineWidth = 1;
  }

  // Label tokens where they fit, else every so many places; only the outer panels carry labels.
  drawAxes(context, left, bottom) {
    const { tokens, shape, theme } = this.picture;
    const { area, zoom } = this;
    const mem = shape[1] - shape[0];
    context.fillStyle = theme.faint;
    const label = (step, index, token) => (step === 1 ? token : String(index));
    if (left) {
      const step = stepFor(area.height / (zoom[1] - zoom[0]), 11);
      context.font = `${step === 1 ? 11 : 10.5}px ${step === 1 ? "monospace" : "sans-serif"}`;
      context.textAlign = "right";
      context.textBaseline = "middle";
      for (let row = Math.ceil(zoom[0] / step) * step; row < zoom[1]; row += step) {
        context.fillText(label(step, row, tokens[mem + row]), area.x - 4, this.toY(row + 0.5), area.x - 4);
      }
    }
    if (bottom) {
      const pixels = area.width / (zoom[3] - zoom[2]);
      const step = pixels >= 9 ? 1 : stepFor(pixels, 26);
      context.font = `${step === 1 ? 11 : 10.5}px ${step === 1 ? "monospace" : "sans-serif"}`;
      context.textAlign = "center";
      context.textBaseline = "top";
      for (let col = Math.ceil(zoom[2] / step) * step; col < zoom[3]; col += step) {
        context.fillText(label(step, col, tokens[col]), this.toX(col + 0.5), area.y + area.height + 4);
      }
    }
  }

  value(panel, query, key) {
    const { cells: [rows, cols], pool, window: [row0, , col0], most } = this.picture;
    const [row, col] = [Math.floor((query - row0) / pool), Math.floor((key - col0) / pool)];
    if (row < 0 || col < 0 || row >= rows || col >= cols) return NaN;
    const level = panel.levels[PLACE[panel.kind](row, col, cols)];
    if (level > most) return Infinity;
    if (level < -most) return level < -most - 1 ? NaN : -Infinity;
    return level * panel.step;
  }

  showReadout() {
    const { panels, texts, tokens, shape } = this.picture;
    const cell = this.pointer || this.pin;
    if (!cell) return this.parts.readout.replaceChildren(texts.empty);
    const [query, key] = cell;
    const mem = shape[1] - shape[0];
    const parts = [`${texts.query} ${query} `, element("code", "", tokens[mem + query]), ` → ${texts.key} ${key} `, element("code", "", tokens[key])];
    parts.push(`, ${texts.distance} ${number(mem + query - key)}`);
    parts.push(": ");
    for (const panel of panels.length <= 8 ? panels : [panels[this.over]]) {
      const name = element("span", "", panel.title);
      name.style.color = panel.colour;
      parts.push(name, element("b", "", number(this.value(panel, query, key))));
    }
    this.parts.readout.replaceChildren(...parts);
  }

  cellAt({ offsetX, offsetY }) {
    const { area, zoom } = this;
    const col = Math.floor(zoom[2] + ((offsetX - area.x) / area.width) * (zoom[3] - zoom[2]));
    const row = Math.floor(zoom[0] + ((offsetY - area.y) / area.height) * (zoom[1] - zoom[0]));
    return this.inside(row, col) ? [row, col] : null;
  }

  down(panel, event) {
    if (event.button !== 0) return;
    this.root.focus({ preventScroll: true });
    if (event.pointerType === "mouse") panel.canvas.setPointerCapture(event.pointerId);
    this.drag = { panel, x: event.offsetX, y: event.offsetY };
  }

  move(panel, event) {
    this.pointer = this.cellAt(event);
    if (this.drag) [this.drag.toX, this.drag.toY] = [event.offsetX, event.offsetY];
    this.draw();
  }

  up(panel, event) {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    const [wide, high] = [Math.abs(event.offsetX - drag.x), Math.abs(event.offsetY - drag.y)];
    if (wide <= 4 && high <= 4) {
      const cell = this.cellAt(event);
      if (cell) this.setPin(cell, this.isZoomed() ? 250 : 0); // a double-click resets the zoom and pins nothing
      return;
    }
    if (wide <= 4 || high <= 4) return this.draw(); // a stroke, not a rectangle
    const { area, zoom } = this;
    const col = (x) => zoom[2] + ((Math.min(Math.max(x, area.x), area.x + area.width) - area.x) / area.width) * (zoom[3] - zoom[2]);
    const row = (y) => zoom[0] + ((Math.min(Math.max(y, area.y), area.y + area.height) - area.y) / area.height) * (zoom[1] - zoom[0]);
    const [x0, x1] = [drag.x, event.offsetX].sort((a, b) => a - b);
    const [y0, y1] = [drag.y, event.offsetY].sort((a, b) => a - b);
    this.zoomTo([Math.floor(row(y0)), Math.ceil(row(y1)), Math.floor(col(x0)), Math.ceil(col(x1))]);
  }

  zoomBy(factor) {
    const [row, col] = this.pin || [(this.zoom[0] + this.zoom[1]) / 2, (this.zoom[2] + this.zoom[3]) / 2];
    const around = (middle, from, to, all) => {
      const size = Math.min(Math.max(Math.round((to - from) * factor), 2), all);
      const start = Math.min(Math.max(Math.round(middle - size / 2), 0), all - size);
      return [start, start + size];
    };
    const [rows, cols] = this.picture.shape;
    this.zoomTo([...around(row, this.zoom[0], this.zoom[1], rows), ...around(col, this.zoom[2], this.zoom[3], cols)]);
  }

  // Zoom at once with what is here; ask for the exact window where the picture is pooled or does not cover it.
  zoomTo(zoom) {
    if (zoom && (zoom[1] <= zoom[0] || zoom[3] <= zoom[2])) return this.draw();
    const [rows, cols] = this.picture.shape;
    this.zoom = zoom || [0, rows, 0, cols];
    const [row, rowEnd, col, colEnd] = this.picture.window;
    const inside = this.zoom[0] >= row && this.zoom[1] <= rowEnd && this.zoom[2] >= col && this.zoom[3] <= colEnd;
    if (this.picture.pool > 1 || !inside) this.send("window", zoom);
    this.draw();
  }

  isZoomed() {
    const [rows, cols] = this.picture.shape;
    return this.zoom[0] > 0 || this.zoom[2] > 0 || this.zoom[1] < rows || this.zoom[3] < cols;
  }

  reset() {
    if (!this.isZoomed()) return;
    clearTimeout(this.pinTimer);
    this.pinTimer = 0;
    this.pin = this.picture.pin;
    this.zoomTo(null);
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
      const cell = [Math.min(Math.max(row + down, 0), rows - 1), Math.min(Math.max(col + right, 0), cols - 1)];
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
  }
}

// The smallest of 1, 2, 4, 5, 8, 10, 16, ... at which labels of `room` pixels do not touch.
function stepFor(pixels, room) {
  for (let step = 1; ; step *= 2) if (step * pixels >= room) return step;
}
