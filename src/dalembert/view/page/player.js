// Replay of a run in WebGL 2: solids with shadows, trails, contacts with their forces, orbit by mouse and touch. No library, no network.
// Data: see replay.py. World axes: z up. Matrices are column-major. The page needs no build step; this file is embedded as it is.
"use strict";
const DalembertPlayer = (() => {
  const FOV = 0.44, CREASE = Math.cos(0.65), TRAIL = 320, HOME = { azimuth: 0.61, elevation: 0.36 };
  const LIGHT = norm([0.35, 0.55, 1.0]), FORCE = [0.91, 0.33, 0.18];

  // numbers -----------------------------------------------------------------------------------------------------------------------
  function decode(text, Kind) {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Kind(bytes.buffer);
  }
  function norm(v) { const n = Math.hypot(...v) || 1; return v.map(x => x / n); }
  function cross(a, b) { return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]; }
  function dot(a, b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
  function times(a, b) {
    const out = new Float32Array(16);
    for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++)
      out[4 * c + r] = a[r] * b[4 * c] + a[4 + r] * b[4 * c + 1] + a[8 + r] * b[4 * c + 2] + a[12 + r] * b[4 * c + 3];
    return out;
  }
  function perspective(aspect, near, far) {
    const f = 1 / Math.tan(FOV / 2) / Math.max(1, 1 / aspect);
    return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0];
  }
  function looking(eye, target) {
    const z = norm([0, 1, 2].map(i => eye[i] - target[i])), x = norm(cross([0, 0, 1], z)), y = cross(z, x);
    return [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1];
  }
  function colourOf(text) {  // "#rrggbb" -> three numbers
    const n = parseInt(text.slice(1), 16);
    return [n >> 16 & 255, n >> 8 & 255, n & 255].map(x => x / 255);
  }

  // shaders: colours leave them multiplied by their opacity ----------------------------------------------------------------------
  const SOLID = [`#version 300 es
    layout(location=0) in vec3 point; layout(location=1) in vec3 normal; layout(location=2) in vec4 paint;
    uniform mat4 scene, pose; out vec3 n, c, w;
    void main() { vec4 p = pose * vec4(point, 1.0); w = p.xyz; n = mat3(pose) * normal; c = paint.rgb; gl_Position = scene * p; }`,
  `#version 300 es
    precision highp float; in vec3 n, c, w; uniform vec3 eye, light, tint; uniform float mixed, alpha; out vec4 made;
    void main() {
      vec3 m = normalize(n), v = normalize(eye - w); if (!gl_FrontFacing) m = -m;
      vec3 base = mix(c, tint, mixed);
      float key = max(dot(m, light), 0.0), sky = 0.5 + 0.5 * m.z, back = max(dot(m, normalize(vec3(-light.xy, 0.25))), 0.0);
      float shine = pow(max(dot(m, normalize(light + v)), 0.0), 38.0);
      vec3 lit = base * (0.42 + 0.20 * sky + 0.48 * key + 0.10 * back) + 0.13 * shine;
      made = vec4(lit * alpha, alpha);
    }`];
  const PLAIN = [`#version 300 es
    layout(location=0) in vec3 point; uniform mat4 scene, pose; void main() { gl_Position = scene * (pose * vec4(point, 1.0)); }`,
  `#version 300 es
    precision highp float; uniform vec4 ink; out vec4 made; void main() { made = vec4(ink.rgb * ink.a, ink.a); }`];
  const GROUND = [`#version 300 es
    uniform mat4 scene; uniform vec3 middle; uniform float reach; out vec2 p;
    void main() { vec2 c = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0; p = middle.xy + reach * c; gl_Position = scene * vec4(p, middle.z, 1.0); }`,
  `#version 300 es
    precision highp float; in vec2 p; uniform vec3 middle, ink; uniform float reach, spacing, tiles; out vec4 made;
    float grid(float s, float wide) { vec2 d = fwidth(p) / s, a = abs(fract(p / s - 0.5) - 0.5) / max(d, vec2(1e-9)); return (1.0 - min(min(a.x, a.y) / wide, 1.0)) * (1.0 - smoothstep(0.2, 0.6, max(d.x, d.y))); }
    void main() {
      float fade = 1.0 - smoothstep(0.25, 1.0, length(p - middle.xy) / reach);
      vec2 q = floor(p / spacing); float tile = tiles * mod(q.x + q.y, 2.0) * 0.10;
      float a = fade * max(max(0.36 * grid(spacing, 1.1), 0.6 * grid(5.0 * spacing, 1.4)), tile + tiles * 0.06);
      made = vec4(ink * a, a);
    }`];
  const RIBBON = [`#version 300 es
    layout(location=0) in vec3 first; layout(location=1) in vec3 last; uniform mat4 scene; uniform vec2 pixels, width; uniform float count; out float age;
    void main() {
      vec4 a = scene * vec4(first, 1.0), b = scene * vec4(last, 1.0);
      float end = float(gl_VertexID >> 1), side = float(gl_VertexID & 1) * 2.0 - 1.0;
      vec2 along = (b.xy / b.w - a.xy / a.w) * pixels; along = length(along) > 1e-6 ? normalize(along) : vec2(1.0, 0.0);
      vec4 p = mix(a, b, end); p.xy += side * mix(width.x, width.y, end) * vec2(-along.y, along.x) / pixels * p.w;
      if (a.w <= 0.0 || b.w <= 0.0) p = vec4(2.0, 2.0, 2.0, 1.0);
      age = count > 0.0 ? (float(gl_InstanceID) + end) / count : 1.0; gl_Position = p;
    }`,
  `#version 300 es
    precision highp float; in float age; uniform vec4 ink; out vec4 made; void main() { float a = ink.a * age; made = vec4(ink.rgb * a, a); }`];
  const DOT = [`#version 300 es
    layout(location=0) in vec3 point; uniform mat4 scene; uniform float size; void main() { gl_Position = scene * vec4(point, 1.0); gl_PointSize = size; }`,
  `#version 300 es
    precision highp float; uniform vec4 ink; out vec4 made;
    void main() { float r = length(gl_PointCoord - 0.5) * 2.0, a = ink.a * (1.0 - smoothstep(0.75, 1.0, r)); made = vec4(ink.rgb * a, a); }`];

  function program(gl, [vertex, fragment]) {
    const made = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source.trim()); gl.compileShader(shader); gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    const at = {}, n = gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS) || 0;
    for (let i = 0; i < n; i++) { const name = gl.getActiveUniform(made, i).name; at[name] = gl.getUniformLocation(made, name); }
    return { made, at };
  }

  // solids: triangles of their own corners, smooth where faces meet at less than the angle of a crease ----------------------------
  function cornersOf(solid) {
    const p = decode(solid.points, Float32Array), t = decode(solid.triangles, solid.wide ? Uint32Array : Uint16Array);
    const paint = decode(solid.paint, Uint16Array), n = t.length / 3, flat = new Float32Array(3 * n), size = new Float32Array(n);
    const first = new Int32Array(p.length / 3 + 1), around = new Int32Array(t.length);
    for (let f = 0; f < n; f++) {
      const [a, b, c] = [0, 1, 2].map(k => 3 * t[3 * f + k]);
      const u = cross([p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]], [p[c] - p[a], p[c + 1] - p[a + 1], p[c + 2] - p[a + 2]]);
      size[f] = Math.hypot(...u) || 1e-30;
      for (let k = 0; k < 3; k++) { flat[3 * f + k] = u[k] / size[f]; first[t[3 * f + k] + 1]++; }
    }
    for (let i = 1; i < first.length; i++) first[i] += first[i - 1];
    const next = first.slice();
    for (let i = 0; i < t.length; i++) around[next[t[i]]++] = i / 3 | 0;
    const out = new ArrayBuffer(28 * t.length), f32 = new Float32Array(out), u8 = new Uint8Array(out);
    for (let i = 0; i < t.length; i++) {
      const f = i / 3 | 0, m = [0, 0, 0];
      for (let j = first[t[i]]; j < first[t[i] + 1]; j++) {
        const g = around[j], same = flat[3 * f] * flat[3 * g] + flat[3 * f + 1] * flat[3 * g + 1] + flat[3 * f + 2] * flat[3 * g + 2];
        if (same > CREASE) for (let k = 0; k < 3; k++) m[k] += size[g] * flat[3 * g + k];
      }
      const unit = norm(m), colour = solid.palette[paint[f]];
      for (let k = 0; k < 3; k++) { f32[7 * i + k] = p[3 * t[i] + k]; f32[7 * i + 3 + k] = unit[k]; u8[28 * i + 24 + k] = colour[k]; }
    }
    return { data: out, count: t.length };
  }

  // the clock of a replay: playing time s runs through the segments, one behind the other --------------------------------------
  class Clock {
    constructor(times, segments) {
      this.times = times; this.segments = segments; this.starts = [0];
      for (const [a, b] of segments) this.starts.push(this.starts[this.starts.length - 1] + times[b] - times[a]);
      this.length = this.starts[segments.length];
    }
    segment(s) { let i = 0; while (i < this.segments.length - 1 && s >= this.starts[i + 1]) i++; return i; }
    time(s) { const i = this.segment(s), [a, b] = this.segments[i]; return Math.min(this.times[a] + s - this.starts[i], this.times[b]); }
    playing(t) {  // of a time; the nearest that is shown
      let best = 0, far = Infinity;
      this.segments.forEach(([a, b], i) => {
        const near = Math.min(Math.max(t, this.times[a]), this.times[b]);
        if (Math.abs(near - t) < far) { far = Math.abs(near - t); best = this.starts[i] + near - this.times[a]; }
      });
      return { s: best, far };
    }
    frame(s) {  // number of the frame before, part of the way to the next, first frame of the segment
      const [a, b] = this.segments[this.segment(s)], t = this.time(s);
      let low = a, high = b;
      while (high - low > 1) { const mid = low + high >> 1; if (this.times[mid] <= t) low = mid; else high = mid; }
      const gap = this.times[high] - this.times[low];
      return { k: low, part: gap > 0 ? Math.min(Math.max((t - this.times[low]) / gap, 0), 1) : 0, first: a };
    }
  }

  class Player {
    constructor(place, data) {
      this.place = place; this.data = data; this.s = 0; this.isPlaying = false; this.trails = true; this.forces = true; this.dirty = true;
      this.clock = new Clock(decode(data.times, Float64Array), data.segments);
      this.centres = decode(data.centres, Float32Array);
      this.runs = data.runs.map(r => ({ ...r, poses: decode(r.poses, Float32Array), colour: r.colour && colourOf(r.colour), shown: true }));
      this.follow = data.camera.follow && decode(data.camera.follow, Float32Array);
      if (data.contacts) {
        const counts = decode(data.contacts.counts, Uint32Array);
        this.contacts = { rows: decode(data.contacts.rows, Float32Array), starts: [0], scale: data.contacts.scale };
        for (const n of counts) this.contacts.starts.push(this.contacts.starts[this.contacts.starts.length - 1] + n);
      }
      this.build(); this.fit(); this.home();
      const gl = this.gl = this.canvas.getContext("webgl2", { antialias: true, stencil: true, alpha: true });
      if (!gl) { this.excuse("This browser offers no WebGL 2, which the replay needs. Diagrams and tables do without."); return; }
      this.canvas.addEventListener("webglcontextlost", e => { e.preventDefault(); this.pause(); });
      this.canvas.addEventListener("webglcontextrestored", () => { this.prepare(); this.dirty = true; this.ask(); });
      this.prepare(); this.theme(); this.handle();
      new ResizeObserver(() => this.redraw()).observe(this.stage);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.theme(); this.redraw(); });
      this.seekPlaying(0);
    }

    // page elements ---------------------------------------------------------------------------------------------------------------
    build() {
      const make = (name, parent, cls, text) => { const e = document.createElement(name); if (cls) e.className = cls; if (text !== undefined) e.textContent = text; parent.append(e); return e; };
      this.stage = make("div", this.place, "stage");
      this.canvas = make("canvas", this.stage); this.canvas.tabIndex = 0; this.canvas.setAttribute("aria-label", "replay of the motion in space");
      this.label = make("div", this.stage, "clock"); this.tip = make("div", this.stage, "tip");
      if (this.runs.length > 1) {
        const legend = make("div", this.stage, "legend");
        this.runs.forEach((run, i) => {
          const label = make("label", legend), box = make("input", label); box.type = "checkbox"; box.checked = true;
          label.append(" " + run.name); make("i", label).style.background = this.data.runs[i].colour;
          box.onchange = () => { run.shown = box.checked; this.redraw(); };
        });
      }
      const bar = make("div", this.place, "bar");
      this.button = make("button", bar, "play", "▶"); this.button.setAttribute("aria-label", "play"); this.button.onclick = () => this.toggle();
      const line = make("div", bar, "line");
      this.slider = make("input", line); Object.assign(this.slider, { type: "range", min: 0, max: 1, step: "any", value: 0 });
      this.slider.setAttribute("aria-label", "time");
      this.slider.oninput = () => { this.pause(); this.seekPlaying(+this.slider.value * this.clock.length); };
      this.marks(line);
      this.select = make("select", bar, "speed"); this.select.setAttribute("aria-label", "speed");
      const usual = this.usualSpeed();
      for (const x of [...new Set([usual / 10, usual / 5, usual / 2, usual, 2 * usual, 5 * usual, 10 * usual, 1])].sort((a, b) => a - b)) {
        const option = make("option", this.select, "", `${+x.toPrecision(2)}×`); option.value = x; option.selected = x === usual;
      }
      const check = (text, name) => { const label = make("label", bar), box = make("input", label); box.type = "checkbox"; box.checked = true; box.className = name; label.append(text); return box; };
      if (this.data.trails.length) check("trails", "trails").onchange = e => { this.trails = e.target.checked; this.redraw(); };
      if (this.contacts) check("contacts", "contacts").onchange = e => { this.forces = e.target.checked; this.redraw(); };
      const reset = make("button", bar, "", "reset view"); reset.onclick = () => { this.fit(); this.home(); this.redraw(); };
    }
    marks(line) {
      const space = "http://www.w3.org/2000/svg", svg = document.createElementNS(space, "svg"); line.append(svg);
      const put = (cls, s, text) => {
        const x = `${100 * s / (this.clock.length || 1)}%`, mark = document.createElementNS(space, "line");
        for (const [k, v] of Object.entries({ class: cls, x1: x, x2: x, y1: cls === "mark" ? 25 : 2, y2: 33 })) mark.setAttribute(k, v);
        if (text) { const title = document.createElementNS(space, "title"); title.textContent = text; mark.append(title); }
        svg.append(mark);
      };
      this.clock.starts.slice(1, -1).forEach(s => put("break", s));
      const slack = 1e-6 * (this.clock.length || 1) + (this.clock.times[1] - this.clock.times[0] || 0);
      for (const [t, text] of this.data.marks) { const { s, far } = this.clock.playing(t); if (far <= slack) put("mark", s, `${+t.toPrecision(6)} s: ${text}`); }
    }
    usualSpeed() {  // real time, or what takes about a quarter of a minute (of short runs: some seconds), by 1, 2 or 5
      if (this.clock.length >= 1.5 && this.clock.length <= 60) return 1;
      const wanted = (this.clock.length || 1) / (this.clock.length < 1.5 ? 6 : 15), power = 10 ** Math.floor(Math.log10(wanted));
      return +(power * [1, 2, 5].filter(x => x * power <= wanted * 1.0001).pop()).toPrecision(3);
    }
    excuse(text) {
      this.canvas.remove(); this.place.querySelector(".bar").remove();
      const e = document.createElement("div"); e.className = "excuse"; e.textContent = text; this.stage.append(e);
    }
    theme() {
      const style = getComputedStyle(document.documentElement), read = name => colourOf(style.getPropertyValue(name).trim());
      this.ink = read("--ink"); this.muted = read("--muted"); this.isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    }

    // graphics ---------------------------------------------------------------------------------------------------------------------
    prepare() {
      const gl = this.gl;
      this.programs = Object.fromEntries(Object.entries({ SOLID, PLAIN, GROUND, RIBBON, DOT }).map(([k, v]) => [k, program(gl, v)]));
      this.solids = this.data.solids.map(s => {
        const { data, count } = cornersOf(s), vao = gl.createVertexArray(); gl.bindVertexArray(vao);
        gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer()); gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
        [[0, 3, gl.FLOAT, false, 0], [1, 3, gl.FLOAT, false, 12], [2, 4, gl.UNSIGNED_BYTE, true, 24]].forEach(([i, n, kind, scaled, at]) => { gl.enableVertexAttribArray(i); gl.vertexAttribPointer(i, n, kind, scaled, 28, at); });
        return { vao, count, opacity: s.opacity, closed: s.closed };
      });
      this.bodyParts = this.data.parts.filter(([body]) => body >= 0); this.worldParts = this.data.parts.filter(([body]) => body < 0);
      this.lineVao = gl.createVertexArray(); this.lineBuffer = gl.createBuffer(); this.empty = gl.createVertexArray();
      for (const run of this.runs) this.prepareTrails(run);
      gl.bindVertexArray(null);
      this.pick = { frame: gl.createFramebuffer(), colour: gl.createRenderbuffer(), depth: gl.createRenderbuffer() };
      gl.bindFramebuffer(gl.FRAMEBUFFER, this.pick.frame);
      [[this.pick.colour, gl.RGBA8, gl.COLOR_ATTACHMENT0], [this.pick.depth, gl.DEPTH_COMPONENT16, gl.DEPTH_ATTACHMENT]].forEach(([buffer, kind, where]) => {
        gl.bindRenderbuffer(gl.RENDERBUFFER, buffer); gl.renderbufferStorage(gl.RENDERBUFFER, kind, 1, 1); gl.framebufferRenderbuffer(gl.FRAMEBUFFER, where, gl.RENDERBUFFER, buffer);
      });
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    }
    prepareTrails(run) {
      const gl = this.gl, bodies = this.data.bodies.length, frames = this.clock.times.length;
      run.frames = 0;
      while (run.frames < frames && Number.isFinite(run.poses[7 * bodies * run.frames])) run.frames++;
      run.trails = this.data.trails.map(([body, colour]) => {
        const points = new Float32Array(3 * frames);
        for (let k = 0; k < frames; k++) points.set(this.centre(run, k, body), 3 * k);
        const buffer = gl.createBuffer(); gl.bindBuffer(gl.ARRAY_BUFFER, buffer); gl.bufferData(gl.ARRAY_BUFFER, points, gl.STATIC_DRAW);
        return { buffer, colour: run.colour || colourOf(colour) };
      });
    }
    centre(run, k, body) {
      const m = new Float32Array(16); this.matrix(m, 0, run.poses, 7 * (k * this.data.bodies.length + body));
      const c = this.centres.subarray(3 * body, 3 * body + 3);
      return [0, 1, 2].map(i => m[i] * c[0] + m[4 + i] * c[1] + m[8 + i] * c[2] + m[12 + i]);
    }
    matrix(out, at, p, i) {
      const [w, x, y, z] = [p[i + 3], p[i + 4], p[i + 5], p[i + 6]];
      out.set([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0, 2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
        2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0, p[i], p[i + 1], p[i + 2], 1], at);
    }
    poses(run, { k, part }) {  // matrices of all bodies between two frames
      const n = this.data.bodies.length, out = new Float32Array(16 * n), mixed = new Float32Array(7), p = run.poses;
      for (let b = 0; b < n; b++) {
        const i = 7 * (k * n + b), j = part > 0 ? i + 7 * n : i;
        let same = 0; for (let c = 3; c < 7; c++) same += p[i + c] * p[j + c];
        for (let c = 0; c < 7; c++) mixed[c] = (1 - part) * p[i + c] + part * p[j + c] * (c > 2 && same < 0 ? -1 : 1);
        const size = Math.hypot(mixed[3], mixed[4], mixed[5], mixed[6]); for (let c = 3; c < 7; c++) mixed[c] /= size;
        this.matrix(out, 16 * b, mixed, 0);
      }
      return out;
    }

    // camera -----------------------------------------------------------------------------------------------------------------------
    home() { Object.assign(this, HOME, { zoom: 1, pan: [0, 0, 0] }); }
    corners() {  // of the boxes around the solids of the bodies that are to be seen, in some frames, relative to what the camera follows
      const { bodies, parts, solids } = this.data, kept = new Set(this.data.camera.kept), frames = this.clock.times.length, m = new Float32Array(16), out = [];
      const boxes = solids.map(s => {
        const p = decode(s.points, Float32Array), low = [1e30, 1e30, 1e30], high = [-1e30, -1e30, -1e30];
        for (let i = 0; i < p.length; i++) { low[i % 3] = Math.min(low[i % 3], p[i]); high[i % 3] = Math.max(high[i % 3], p[i]); }
        return [0, 1, 2, 3, 4, 5, 6, 7].map(c => [0, 1, 2].map(i => c >> i & 1 ? high[i] : low[i]));
      });
      const shown = parts.filter(([body]) => kept.has(body)), step = Math.max(1, Math.ceil(frames * shown.length / 20000), Math.ceil(frames / 60));
      for (const run of this.runs) for (let k = 0; k < frames; k += step) for (const [body, number] of shown) {
        this.matrix(m, 0, run.poses, 7 * (k * bodies.length + body));
        for (const c of boxes[number]) out.push([0, 1, 2].map(i => m[i] * c[0] + m[4 + i] * c[1] + m[8 + i] * c[2] + m[12 + i] - (this.follow ? this.follow[3 * k + i] : 0)));
      }
      const far = 6 * this.data.camera.half, middle = this.data.camera.centre;
      return out.filter(p => p.every(Number.isFinite) && Math.hypot(...p.map((x, i) => x - middle[i])) < far);
    }
    fit() {  // target and distance from which all corners are seen
      const { half } = this.data.camera, e = HOME.elevation, a = HOME.azimuth, z = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
      const x = norm(cross([0, 0, 1], z)), y = cross(z, x), points = this.corners(), target = [...this.data.camera.centre];
      const aspect = (this.stage.clientWidth || 16) / (this.stage.clientHeight || 9), tall = Math.tan(FOV / 2) * Math.max(1, 1 / aspect), wide = tall * aspect;
      let distance = half / Math.tan(FOV / 2);
      for (let i = 0; i < 6 && points.length; i++) {
        const low = [1e30, 1e30], high = [-1e30, -1e30];
        let needed = 0.3 * half / Math.tan(FOV / 2);
        for (const p of points) {
          const r = p.map((v, j) => v - target[j]), d = Math.max(distance - dot(r, z), 0.05 * distance), at = [dot(r, x), dot(r, y)];
          for (const j of [0, 1]) { low[j] = Math.min(low[j], at[j] / d); high[j] = Math.max(high[j], at[j] / d); }
          needed = Math.max(needed, dot(r, z) + Math.abs(at[0]) / (0.9 * wide), dot(r, z) + Math.abs(at[1]) / (0.84 * tall));
        }
        for (let j = 0; j < 3; j++) target[j] += 0.8 * distance * (0.5 * (low[0] + high[0]) * x[j] + 0.5 * (low[1] + high[1]) * y[j]);
        distance = needed;
      }
      this.aim = { target, distance };
    }
    view(now) {
      const { half } = this.data.camera, target = this.aim.target.map((x, i) => x + this.pan[i]);
      if (this.follow) for (let i = 0; i < 3; i++) {
        const a = this.follow[3 * now.k + i], b = now.part > 0 ? this.follow[3 * now.k + 3 + i] : a; target[i] += a + now.part * (b - a);
      }
      const distance = this.aim.distance * this.zoom, e = this.elevation, a = this.azimuth;
      const eye = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)].map((x, i) => target[i] + distance * x);
      const aspect = this.canvas.width / Math.max(this.canvas.height, 1);
      return { eye, target, distance, matrix: times(perspective(aspect, 0.02 * distance, 4 * distance + 60 * half), looking(eye, target)) };
    }

    // drawing ----------------------------------------------------------------------------------------------------------------------
    draw() {
      const gl = this.gl, ratio = Math.min(devicePixelRatio || 1, 2);
      const wide = Math.round(this.stage.clientWidth * ratio), high = Math.round(this.stage.clientHeight * ratio);
      if (!wide || !high) return;
      if (this.canvas.width !== wide || this.canvas.height !== high) { this.canvas.width = wide; this.canvas.height = high; }
      const now = this.clock.frame(this.s), view = this.view(now);
      this.now = now; this.seen = view; this.ratio = ratio;
      gl.viewport(0, 0, wide, high); gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
      gl.enable(gl.BLEND); gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA); gl.enable(gl.DEPTH_TEST); gl.depthFunc(gl.LEQUAL);
      this.ground(view, now);
      const shown = this.runs.filter(r => r.shown && now.k + (now.part > 0 ? 1 : 0) < r.frames);
      const every = shown.map(r => this.poses(r, now));
      if (view.eye[2] > this.floor(now)) this.shadows(view, now, shown, every);
      this.solidParts(view, this.worldParts, null, null, 1, [false]);
      shown.forEach((run, i) => { gl.enable(gl.POLYGON_OFFSET_FILL); gl.polygonOffset(i, i); this.solidParts(view, this.bodyParts, every[i], run.colour, i ? 0.55 : 1); gl.disable(gl.POLYGON_OFFSET_FILL); });
      gl.depthMask(false);
      this.solidParts(view, this.worldParts, null, null, 1, [true]);
      if (shown.length) this.lines(view, every[0]);
      this.dots(view, this.data.anchors, this.ink, 0.75, 5);
      if (this.trails) for (const run of shown) this.drawTrails(view, now, run);
      if (this.contacts && this.forces) this.drawContacts(view, now);
      gl.depthMask(true); gl.bindVertexArray(null);
      this.label.textContent = `t = ${this.timeText(this.clock.time(this.s))} s`;
    }
    timeText(t) { const digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(Math.max(this.clock.length, 1e-9))) + 1)); return t.toFixed(digits); }
    floor(now) { return this.data.floor.height + (this.follow ? this.follow[3 * now.k + 2] : 0); }
    ground(view, now) {
      const gl = this.gl, { made, at } = this.programs.GROUND, half = this.data.camera.half, power = 10 ** Math.floor(Math.log10(half / 2.5));
      const spacing = [1, 2, 5].filter(x => x * power <= half / 2.5 * 1.000001).pop() * power;
      gl.useProgram(made); gl.bindVertexArray(this.empty); gl.depthMask(false);
      gl.uniformMatrix4fv(at.scene, false, view.matrix); gl.uniform3f(at.middle, view.target[0], view.target[1], this.floor(now));
      gl.uniform1f(at.reach, 5 * half * Math.max(1, this.zoom)); gl.uniform1f(at.spacing, spacing); gl.uniform1f(at.tiles, this.data.floor.real ? 1 : 0);
      gl.uniform3fv(at.ink, this.muted); gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4); gl.depthMask(true);
    }
    shadows(view, now, shown, every) {  // along the light onto the floor, each pixel once
      const gl = this.gl, { made, at } = this.programs.PLAIN, z = this.floor(now), [a, b, c] = LIGHT;
      const flat = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, -a / c, -b / c, 0, 0, a / c * z, b / c * z, z, 1]);
      gl.useProgram(made); gl.uniformMatrix4fv(at.scene, false, times(view.matrix, flat));
      gl.enable(gl.STENCIL_TEST); gl.stencilFunc(gl.EQUAL, 0, 255); gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR); gl.depthMask(false); gl.disable(gl.DEPTH_TEST);
      gl.uniform4f(at.ink, 0.05, 0.08, 0.12, this.isDark ? 0.42 : 0.17);
      shown.forEach((run, i) => this.each(this.bodyParts, every[i], at.pose, solid => solid.opacity > 0.3));
      gl.disable(gl.STENCIL_TEST); gl.depthMask(true); gl.enable(gl.DEPTH_TEST);
    }
    each(parts, poses, at, wanted = () => true, before = () => {}) {
      const gl = this.gl, still = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
      for (const [body, number] of parts) {
        const solid = this.solids[number]; if (!wanted(solid)) continue;
        before(solid, body); gl.uniformMatrix4fv(at, false, body < 0 ? still : poses.subarray(16 * body, 16 * body + 16));
        gl.bindVertexArray(solid.vao); gl.drawArrays(gl.TRIANGLES, 0, solid.count);
      }
    }
    solidParts(view, parts, poses, tint, opacity, which = [false, true]) {
      const gl = this.gl, { made, at } = this.programs.SOLID;
      gl.useProgram(made); gl.uniformMatrix4fv(at.scene, false, view.matrix); gl.uniform3fv(at.eye, view.eye); gl.uniform3fv(at.light, LIGHT);
      gl.uniform3fv(at.tint, (tint || [1, 1, 1]).map(x => 0.78 * x + 0.22)); gl.uniform1f(at.mixed, tint ? 0.8 : 0);
      for (const clear of which)
        this.each(parts, poses, at.pose, s => s.opacity > 0 && s.opacity < 0.99 === clear, s => {
          gl.uniform1f(at.alpha, opacity * s.opacity); if (s.closed) gl.enable(gl.CULL_FACE); else gl.disable(gl.CULL_FACE);
        });
      gl.disable(gl.CULL_FACE);
    }
    ribbons(view, buffer, offset, stride, n, colour, alpha, width, count = 0) {
      const gl = this.gl, { made, at } = this.programs.RIBBON; if (n < 1) return;
      gl.useProgram(made); gl.bindVertexArray(this.lineVao); gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      [0, 1].forEach(i => { gl.enableVertexAttribArray(i); gl.vertexAttribPointer(i, 3, gl.FLOAT, false, stride, offset + 12 * i); gl.vertexAttribDivisor(i, 1); });
      gl.uniformMatrix4fv(at.scene, false, view.matrix); gl.uniform2f(at.pixels, this.canvas.width / 2, this.canvas.height / 2);
      gl.uniform2f(at.width, width[0] * this.ratio, width[1] * this.ratio); gl.uniform1f(at.count, count); gl.uniform4f(at.ink, ...colour, alpha);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, n);
    }
    fill(numbers) { const gl = this.gl; gl.bindBuffer(gl.ARRAY_BUFFER, this.lineBuffer); gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.DYNAMIC_DRAW); }
    dots(view, points, colour, alpha, size) {
      const gl = this.gl, { made, at } = this.programs.DOT; if (!points.length) return;
      this.fill(points); gl.useProgram(made); gl.bindVertexArray(this.lineVao); gl.enableVertexAttribArray(0); gl.disableVertexAttribArray(1);
      gl.vertexAttribDivisor(0, 0); gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 12, 0);
      gl.uniformMatrix4fv(at.scene, false, view.matrix); gl.uniform1f(at.size, size * this.ratio); gl.uniform4f(at.ink, ...colour, alpha);
      gl.drawArrays(gl.POINTS, 0, points.length / 3);
    }
    lines(view, poses) {
      const place = (body, p) => body < 0 ? p : [0, 1, 2].map(i => poses[16 * body + i] * p[0] + poses[16 * body + 4 + i] * p[1] + poses[16 * body + 8 + i] * p[2] + poses[16 * body + 12 + i]);
      if (!this.data.lines.length) return;
      this.fill(this.data.lines.flatMap(([a, p, b, q]) => [...place(a, p), ...place(b, q)]));
      this.ribbons(view, this.lineBuffer, 0, 24, this.data.lines.length, this.muted, 0.9, [0.9, 0.9]);
    }
    drawTrails(view, now, run) {
      const last = Math.min(now.k, run.frames - 1), start = Math.max(now.first, last - (this.runs.length > 1 ? TRAIL >> 3 : TRAIL)), n = last - start;
      for (const trail of run.trails) this.ribbons(view, trail.buffer, 12 * start, 12, n, trail.colour, 0.95, [1.1, 1.1], n);
    }
    drawContacts(view, now) {
      const gl = this.gl, k = now.k + (now.part > 0.5 ? 1 : 0), { rows, starts, scale } = this.contacts, points = [], shafts = [], heads = [];
      const half = this.data.camera.half;
      for (let i = starts[k]; i < starts[k + 1]; i++) {
        const p = rows.subarray(6 * i, 6 * i + 3), f = rows.subarray(6 * i + 3, 6 * i + 6), size = Math.hypot(...f) * scale;
        const long = Math.min(size, 0.5 * half) / (size || 1) * scale, at = s => [0, 1, 2].map(j => p[j] + s * long * f[j]);
        points.push(...p); if (size < 0.01 * half) continue;
        shafts.push(...p, ...at(0.8)); heads.push(...at(0.72), ...at(1));
      }
      gl.disable(gl.DEPTH_TEST);
      this.fill(shafts); this.ribbons(view, this.lineBuffer, 0, 24, shafts.length / 6, FORCE, 0.9, [1.2, 1.2]);
      this.fill(heads); this.ribbons(view, this.lineBuffer, 0, 24, heads.length / 6, FORCE, 0.95, [4.5, 0]);
this.dots(view, points, FORCE, 0.95, 5.5); gl.enable(gl.DEPTH_TEST);
    }

    // names on hover: the pixel below the pointer is drawn alone, with the numbers of bodies as colours -----------------------------
    bodyAt(x, y) {
      const gl = this.gl, { made, at } = this.programs.PLAIN, w = this.stage.clientWidth, h = this.stage.clientHeight, px = 2 * x / w - 1, py = 1 - 2 * y / h;
      if (!this.seen) return -1;
      const narrow = [w, 0, 0, 0, 0, h, 0, 0, 0, 0, 1, 0, -px * w, -py * h, 0, 1], found = new Uint8Array(4);
      gl.bindFramebuffer(gl.FRAMEBUFFER, this.pick.frame); gl.viewport(0, 0, 1, 1); gl.disable(gl.BLEND); gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      gl.useProgram(made); gl.uniformMatrix4fv(at.scene, false, times(narrow, this.seen.matrix));
      for (const run of this.runs) if (run.shown && this.now.k + 1 < run.frames + (this.now.part > 0 ? 0 : 1))
        this.each(this.bodyParts, this.poses(run, this.now), at.pose, s => s.opacity > 0, (s, b) => gl.uniform4f(at.ink, (b + 1 & 255) / 255, (b + 1 >> 8) / 255, 0, 1));
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, found); gl.bindFramebuffer(gl.FRAMEBUFFER, null); gl.bindVertexArray(null);
      return found[0] + 256 * found[1] - 1;
    }

    // hands ------------------------------------------------------------------------------------------------------------------------
    handle() {
      const canvas = this.canvas, down = new Map();
      const turn = (dx, dy) => { this.azimuth -= 0.008 * dx; this.elevation = Math.min(Math.max(this.elevation + 0.008 * dy, -1.5), 1.5); };
      const shift = (dx, dy) => {
        const view = this.seen; if (!view) return;
        const z = norm(view.eye.map((x, i) => x - view.target[i])), x = norm(cross([0, 0, 1], z)), y = cross(z, x);
        const unit = 2 * view.distance * Math.tan(FOV / 2) / Math.min(this.stage.clientHeight, this.stage.clientWidth);
        for (let i = 0; i < 3; i++) this.pan[i] += unit * (-dx * x[i] + dy * y[i]);
      };
      const closer = by => { this.zoom = Math.min(Math.max(this.zoom * by, 0.03), 30); };
      canvas.addEventListener("pointerdown", e => { canvas.setPointerCapture(e.pointerId); down.set(e.pointerId, [e.clientX, e.clientY]); canvas.focus({ preventScroll: true }); this.tip.style.display = "none"; });
      canvas.addEventListener("pointermove", e => {
        const before = down.get(e.pointerId); if (!before) { if (e.pointerType === "mouse") this.hover(e); return; }
        const dx = e.clientX - before[0], dy = e.clientY - before[1];
        if (down.size === 1) (e.shiftKey || e.buttons & 6 ? shift : turn)(dx, dy);
        else {
          const other = [...down].find(([id]) => id !== e.pointerId)[1], far = p => Math.hypot(p[0] - other[0], p[1] - other[1]);
          closer(far(before) / Math.max(far([e.clientX, e.clientY]), 1)); shift(dx / 2, dy / 2);
        }
        down.set(e.pointerId, [e.clientX, e.clientY]); this.redraw();
      });
      for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, e => down.delete(e.pointerId));
      canvas.addEventListener("pointerleave", () => { this.tip.style.display = "none"; });
      canvas.addEventListener("contextmenu", e => e.preventDefault());
      canvas.addEventListener("dblclick", () => { this.home(); this.redraw(); });
      canvas.addEventListener("wheel", e => { if (document.activeElement !== canvas && !e.ctrlKey) return; e.preventDefault(); closer(Math.exp(0.0012 * e.deltaY)); this.redraw(); }, { passive: false });
      canvas.addEventListener("keydown", e => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
        if (e.key === " ") { e.preventDefault(); this.toggle(); }
        else if (step) { e.preventDefault(); this.pause(); this.seekPlaying(this.s + step * this.clock.length / Math.max(this.clock.times.length - 1, 1)); }
      });
    }
    hover(e) {
      if (this.asked) return;
      this.asked = requestAnimationFrame(() => {
        this.asked = 0;
        const box = this.stage.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top, body = this.bodyAt(x, y);
        this.tip.style.display = body >= 0 ? "block" : "none"; if (body < 0) return;
        this.tip.textContent = this.data.bodies[body]; this.tip.style.left = `${x}px`; this.tip.style.top = `${y}px`;
      });
    }

    // time -------------------------------------------------------------------------------------------------------------------------
    get time() { return this.clock.time(this.s); }
    seek(t) { this.pause(); this.seekPlaying(this.clock.playing(t).s); }
    seekPlaying(s) {
      this.s = Math.min(Math.max(s, 0), this.clock.length); this.slider.value = this.s / (this.clock.length || 1);
      this.place.dispatchEvent(new CustomEvent("dalembert-time", { bubbles: true, detail: this.time })); this.redraw();
    }
    toggle() { if (this.isPlaying) this.pause(); else this.play(); }
    play() {
      if (this.s >= this.clock.length) this.s = 0;
      this.isPlaying = true; this.button.textContent = "❚❚"; this.button.setAttribute("aria-label", "pause"); this.last = null; this.ask();
    }
    pause() { this.isPlaying = false; this.button.textContent = "▶"; this.button.setAttribute("aria-label", "play"); }
    redraw() { this.dirty = true; if (this.gl) this.ask(); }
    ask() { if (!this.waiting) this.waiting = requestAnimationFrame(t => { this.waiting = 0; this.tick(t); }); }
    tick(t) {
      if (this.isPlaying) {
        if (this.last !== null) this.seekPlaying(this.s + Math.min(t - this.last, 250) / 1000 * +this.select.value);
        this.last = t;
        if (this.s >= this.clock.length) this.pause(); else this.ask();
      }
      if (this.dirty && !this.gl.isContextLost()) { this.dirty = false; this.draw(); }
    }
  }
  return Player;
})();
