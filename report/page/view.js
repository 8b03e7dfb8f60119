"use strict";
// The page's script: lists stages and passes, draws the lines that are in view, follows operations by their locations.
(async () => {
  const $ = (id) => document.getElementById(id);
  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "class") node.className = value;
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  };

  // ---- data ----
  const packed = Uint8Array.from(atob($("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(stream).text());
  for (const s of data.snapshots) s.lines = s.text.split("\n");
  for (const s of data.steps) s.lines = s.diff ? s.diff.split("\n") : [];
  const remarks = [...document.querySelectorAll(".remarks li")];

  // ---- state ----
  const HEIGHT = 20, AROUND = 3;
  const code = $("code"), inner = $("inner");
  let shown = null;           // {snapshot} or {step}
  let rows = [];              // what the pane shows: {sign, text, no, source, fold}
  let mode = "changes";
  let wanted = null;          // for each number of positions whether it is followed
  let needle = "";

  // ---- rows ----
  function rowsOfSnapshot(s, whole) {
    const all = s.lines.map((text, i) => ({ sign: " ", text, no: i + 1, source: s.sources[i] }));
    if (!s.hunks) return all;
    const before = data.snapshots[data.snapshots.indexOf(s) - 1];
    const out = [];
    let at = 0;
    const same = (to, first, last) => {
      const keep = AROUND, from = at, lead = first ? 0 : keep, tail = last ? 0 : keep;
      if (whole || to - from <= lead + tail + 4) out.push(...all.slice(from, to));
      else {
        out.push(...all.slice(from, from + lead));
        out.push({ fold: all.slice(from + lead, to - tail) });
        out.push(...all.slice(to - tail, to));
      }
    };
    s.hunks.forEach(([oldFrom, oldTo, newFrom, newTo], i) => {
      same(newFrom, i === 0, false);
      for (let j = oldFrom; j < oldTo; j++) out.push({ sign: "-", text: before.lines[j], no: "", source: before.sources[j] });
      for (let j = newFrom; j < newTo; j++) out.push({ ...all[j], sign: "+" });
      at = newTo;
    });
    same(all.length, s.hunks.length === 0, true);
    return out;
  }
  const rowsOfStep = (s) => {
    const out = s.lines.map((line) => ({ sign: line[0], text: line.slice(1), no: "", source: 0, place: line[0] === "@" }));
    if (s.cut) out.push({ sign: "@", text: `${s.cut} lines more`, no: "", place: true });
    return out;
  };

  // ---- highlighting ----
  const TOKENS = {
    mlir: /(\/\/.*)|("(?:[^"\\]|\\.)*")|(%[\w$.#-]+)|([@^][\w$.-]+)|(#[\w.]+)|\b((?:tensor|memref|vector)(?=<)|(?:[fi]|bf|index|si|ui)(?:8|16|32|64|1|128)?(?![\w.])|(?:!llvm\.\w+))|\b([a-z_]+\.[a-z_0-9.]+)|\b(func|module|return|attributes|private|ins|outs|to|step|iter_args|loc|dense|affine_map|affine_set|blocks|threads|args|async|in)\b|((?<![\w.])-?\d[\w.]*(?:[eE][+-]?\d+)?)/g,
    llvm: /(;.*)|("(?:[^"\\]|\\.)*")|(%[\w$.-]+)|(@[\w$.-]+)|([#!][\w.]+)|\b((?:ptr|float|double|half|void|label|i\d+))\b|(?<=^\s*|= )\b([a-z_]+)\b|\b(define|declare|to|nocapture|align|inbounds)\b|((?<![\w.])-?\d[\w.+]*)/g,
    ptx: /(\/\/.*)|("(?:[^"\\]|\\.)*")|(%\w+)|(\$?L?__?BB[\w$]+|\$L\w+)|()|(\.(?:[busf]\d+|pred|v[24])\b)|\b([a-z]+[a-z0-9]*(?:\.[\w:]+)+)|(\.[a-z]+\b)|((?<![\w.])-?\d\w*)/g,
  };
  const CLASSES = ["comment", "text", "value", "symbol", "symbol", "type", "op", "key", "number"];
  function coloured(text, language) {
    const out = document.createDocumentFragment();
    let at = 0;
    for (const match of text.matchAll(TOKENS[language] || TOKENS.mlir)) {
      if (!match[0]) continue;
      const kind = CLASSES[match.slice(1).findIndex((g) => g !== undefined)];
      if (match.index > at) out.append(text.slice(at, match.index));
      out.append(make("span", { class: "t-" + kind }, match[0]));
      at = match.index + match[0].length;
    }
    out.append(text.slice(at));
    return out;
  }
  function source(row, language) {
    const span = make("span", { class: "src" });
    const at = needle ? row.text.toLowerCase().indexOf(needle) : -1;
    if (at < 0) span.append(coloured(row.text, language));
    else {
      const end = at + needle.length;
      span.append(coloured(row.text.slice(0, at), language), make("span", { class: "found" }, row.text.slice(at, end)), coloured(row.text.slice(end), language));
    }
    return span;
  }

  // ---- the pane: only rows in view exist ----
  function draw() {
    const first = Math.max(0, Math.floor(code.scrollTop / HEIGHT) - 10);
    const last = Math.min(rows.length, Math.ceil((code.scrollTop + code.clientHeight) / HEIGHT) + 10);
    const language = shown && shown.snapshot ? shown.snapshot.language : "mlir";
    const part = document.createDocumentFragment();
    for (let i = first; i < last; i++) {
      const row = rows[i];
      let node;
      if (row.fold) {
        node = make("div", { class: "row fold", role: "button", tabindex: "0" }, make("span", { class: "no" }), make("span", { class: "sign" }, "⋯"), `${row.fold.length} unchanged lines`);
        node.addEventListener("click", () => unfold(i));
      } else {
        const kind = row.place ? " place" : row.sign === "+" ? " add" : row.sign === "-" ? " del" : "";
        const linked = wanted && row.source && wanted[row.source] ? " linked" : "";
        node = make("div", { class: "row" + kind + linked }, make("span", { class: "no" }, String(row.no)), make("span", { class: "sign" }, row.sign === " " || row.place ? "" : row.sign), row.place ? row.text : source(row, language));
        if (!row.place) node.addEventListener("click", () => getSelection().isCollapsed && follow(row.source, row.text));
      }
      node.style.top = i * HEIGHT + "px";
      part.append(node);
    }
    inner.replaceChildren(part);
  }
  function unfold(i) {
    rows.splice(i, 1, ...rows[i].fold);
    layout();
  }
  function layout() {
    inner.style.height = rows.length * HEIGHT + "px";
    draw();
  }
  code.addEventListener("scroll", () => requestAnimationFrame(draw));
  addEventListener("resize", draw);
  function reveal(no) {
    for (;;) {
      const at = rows.findIndex((r) => r.no === no || (r.fold && r.fold.some((f) => f.no === no)));
      if (at < 0) return;
      if (!rows[at].fold) {
        code.scrollTop = Math.max(0, at * HEIGHT - code.clientHeight / 3);
        return draw();
      }
      unfold(at);
    }
  }

  // ---- showing ----
  const count = (hunks) => hunks.reduce(([a, b], h) => [a + h[3] - h[2], b + h[1] - h[0]], [0, 0]);
  function show(what, no) {
    shown = what;
    const { snapshot, step } = what;
    $("title").textContent = snapshot ? snapshot.title : step.pass;
    if (snapshot) {
      const i = data.snapshots.indexOf(snapshot);
      rows = rowsOfSnapshot(snapshot, mode === "whole");
      const [added, removed] = snapshot.hunks ? count(snapshot.hunks) : [0, 0];
      $("sum").textContent = !snapshot.hunks ? `${snapshot.lines.length} lines`
        : snapshot.hunks.length === 0 ? `${snapshot.lines.length} lines, nothing changed since ${data.snapshots[i - 1].title}`
        : `${snapshot.lines.length} lines; since ${data.snapshots[i - 1].title} ${added} new, ${removed} gone`;
    } else {
      rows = rowsOfStep(step);
      $("sum").textContent = `${step.outer.length ? "in " + step.outer.join(" › ") + ", " : ""}${step.lines.length ? step.lines.filter((l) => l[0] === "+").length + " new, " + step.lines.filter((l) => l[0] === "-").length + " gone" : "nothing changed"}`;
    }
    for (const button of document.querySelectorAll("[data-mode]")) {
      button.disabled = !snapshot || !snapshot.hunks;
      button.setAttribute("aria-pressed", String(!button.disabled && button.dataset.mode === mode));
    }
    for (const button of $("list").querySelectorAll("button")) button.setAttribute("aria-current", String(button.what === (snapshot || step)));
    code.scrollTop = 0;
    layout();
    if (no) reveal(no);
  }
  for (const button of document.querySelectorAll("[data-mode]")) button.addEventListener("click", () => { mode = button.dataset.mode; show(shown); });

  function list() {
    const aside = $("list");
    data.snapshots.forEach((s, i) => {
      const steps = data.steps.filter((p) => p.snapshot === i);
      const changed = steps.filter((p) => p.lines.length), idle = steps.filter((p) => !p.lines.length);
      const alone = changed.length === 1 && changed[0].pass === s.title;
      const stage = make("button", { class: "stage", title: s.title }, make("span", { class: "label" }, s.title));
      if (s.hunks && s.hunks.length) {
        const [added, removed] = count(s.hunks);
        stage.append(make("span", { class: "plus" }, "+" + added), make("span", { class: "minus" }, "−" + removed));
      } else stage.append(make("span", { class: "lines" }, s.hunks ? "=" : `${s.lines.length} lines`));
      stage.what = s;
      s.button = stage;
      stage.addEventListener("click", () => show({ snapshot: s }));
      aside.append(stage);
      if (!alone) for (const p of changed) aside.append(entry(p));
      if (idle.length) {
        const names = [...new Set(idle.map((p) => p.pass))];
        aside.append(make("details", { class: "idle" }, make("summary", {}, `${names.length} without a change`), ...names.map((n) => make("div", { class: "step still" }, n))));
      }
    });
    const rest = data.steps.filter((p) => p.snapshot >= data.snapshots.length && p.lines.length);
    for (const p of rest) aside.append(entry(p));
  }
  function entry(p) {
    const button = make("button", { class: "step", title: [...p.outer, p.pass].join(" › ") }, make("span", { class: "label" }, "  ".repeat(p.outer.length) + p.pass));
    const signs = (sign) => p.lines.filter((l) => l[0] === sign).length;
    button.append(make("span", { class: "plus" }, "+" + signs("+")), make("span", { class: "minus" }, "−" + signs("-")));
    button.what = p;
    button.addEventListener("click", () => show({ step: p }));
    return button;
  }

  // ---- following an operation ----
  const key = ([file, line]) => file + ":" + line;
  function follow(number, text) { followAll([number], text); }
  function followAll(numbers, text) {
    // Places in the compiler's own templates would link every kernel of a template.
    const own = (place) => !data.files[place[0]].startsWith("templates/") && !data.files[place[0]].startsWith("tinymlir-");
    let places = numbers.flatMap((n) => data.sources[n] || []);
    if (places.some(own)) places = places.filter(own);
    const keys = new Set(places.map(key));
    wanted = keys.size ? data.sources.map((set) => set.some((place) => keys.has(key(place)))) : null;
    const aside = $("follow");
    aside.replaceChildren();
    if (!wanted) {
      aside.append(make("h2", {}, "No location"), make("p", {}, text ? "This line has no place in the source." : ""));
      return draw();
    }
    const where = [...new Map(places.map((p) => [key(p), p])).values()];
    const name = where.slice(0, 3).map(([f, l]) => `${data.files[f].split("/").pop()}:${l}`).join(", ") + (where.length > 3 ? ` and ${where.length - 3} more` : "");
    aside.append(make("h2", {}, "What became of it"), make("p", {}, name));
    for (const li of remarks) if (li.dataset.sources.split(" ").some((n) => wanted[n])) {
      aside.append(make("div", { class: "remark " + li.classList[0] }, li.querySelector(".text").textContent));
    }
    for (const s of data.snapshots) {
      const found = [];
      s.sources.forEach((n, i) => { if (wanted[n]) found.push(i); });
      if (!found.length) continue;
      aside.append(make("h3", {}, make("span", {}, s.title), make("span", {}, found.length === 1 ? "1 line" : found.length + " lines")));
      for (const i of found.slice(0, 6)) {
        const line = make("button", { class: "line", title: s.lines[i].trim() }, make("i", {}, String(i + 1)), s.lines[i].trim());
        line.addEventListener("click", () => { view("stages"); show({ snapshot: s }, i + 1); });
        aside.append(line);
      }
      if (found.length > 6) aside.append(make("p", { style: "padding-left:6px" }, `and ${found.length - 6} more`));
    }
    draw();
  }
  function welcome() {
    $("follow").replaceChildren(make("h2", {}, "Follow an operation"), make("p", {}, "Click a line: what it became in every other stage, by its location in the source, is listed here and marked in the text."),
      make("p", {}, "Folded lines have not changed since the stage before; lines that differ only in the numbers of values do not count as changed."),
      make("p", {}, make("kbd", {}, "/"), " searches, ", make("kbd", {}, "Enter"), " goes to the next hit, ", make("kbd", {}, "j"), " ", make("kbd", {}, "k"), " go through the stages."));
  }
  document.addEventListener("click", (event) => {
    const linked = event.target.closest("#kernel-table tbody tr, g.bar, .remarks li");
    if (!linked) return;
    event.preventDefault();
    const numbers = linked.dataset.sources.split(" ").map(Number);
    view("stages");
    followAll(numbers);
    const s = data.snapshots.find((s) => s.sources.some((n) => wanted && wanted[n]));
    if (s) show({ snapshot: s }, s.sources.findIndex((n) => wanted[n]) + 1);
  });

  // ---- search ----
  let hits = [], at = -1;
  function search(text) {
    needle = text.trim().toLowerCase();
    hits = [];
    at = -1;
    for (const s of data.snapshots) {
      let found = 0;
      if (needle.length > 1) s.lines.forEach((line, i) => { if (line.toLowerCase().includes(needle)) { found++; hits.push([s, i + 1]); } });
      s.button.querySelector(".hit")?.remove();
      if (found) s.button.append(make("span", { class: "hit" }, String(found)));
    }
    $("hits").textContent = needle.length > 1 ? `${hits.length} hits` : "";
    draw();
  }
  function next(step) {
    if (!hits.length) return;
    if (at < 0 && shown.snapshot) { const here = hits.findIndex(([s]) => s === shown.snapshot); at = here < 0 ? 0 : here; }
    else at = (at + step + hits.length) % hits.length;
    const [s, no] = hits[at];
    view("stages");
    if (shown.snapshot !== s) show({ snapshot: s }, no); else reveal(no);
    $("hits").textContent = `${at + 1} of ${hits.length}`;
  }
  let timer;
  $("search").addEventListener("input", (e) => { clearTimeout(timer); timer = setTimeout(() => search(e.target.value), 120); });
  $("search").addEventListener("keydown", (e) => {
    if (e.key === "Enter") { clearTimeout(timer); if (e.target.value.trim().toLowerCase() !== needle) search(e.target.value); next(e.shiftKey ? -1 : 1); }
    if (e.key === "Escape") { e.target.value = ""; search(""); e.target.blur(); }
  });

  // ---- views ----
  function view(name) {
    for (const section of document.querySelectorAll(".view")) section.hidden = section.id !== name;
    for (const tab of document.querySelectorAll("[data-view]")) tab.setAttribute("aria-selected", String(tab.dataset.view === name));
    if (name === "stages") draw();
    if (name === "timeline") tracks();
  }
  for (const tab of document.querySelectorAll("[data-view]")) tab.addEventListener("click", () => view(tab.dataset.view));
  $("only-missed")?.addEventListener("change", (e) => remarks.forEach((li) => (li.hidden = e.target.checked && !li.classList.contains("missed"))));
  addEventListener("keydown", (e) => {
    if (e.target.matches("input") || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "/") { e.preventDefault(); $("search").focus(); }
    const i = shown.snapshot ? data.snapshots.indexOf(shown.snapshot) : shown.step.snapshot;
    const to = e.key === "j" ? i + 1 : e.key === "k" ? i - 1 : -1;
    if (data.snapshots[to]) show({ snapshot: data.snapshots[to] });
  });

  // ---- sorting the table ----
  document.querySelectorAll("#kernel-table th").forEach((th, column) => th.addEventListener("click", () => {
    const body = document.querySelector("#kernel-table tbody");
    const down = th.getAttribute("aria-sort") !== "descending";
    const scale = { T: 1e12, G: 1e9, M: 1e6, k: 1e3, m: 1e-3, "µ": 1e-6, n: 1e-9 };
    const value = (tr) => {
      const match = tr.cells[column].textContent.trim().match(/^(-?[\d.]+)\s*([TGMkmµn]?)/);
      return match ? Number(match[1]) * (scale[match[2]] || 1) : tr.cells[column].textContent.trim();
    };
    const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
    document.querySelectorAll("#kernel-table th").forEach((h) => h.removeAttribute("aria-sort"));
    th.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...[...body.rows].sort((a, b) => (down ? -1 : 1) * compare(value(a), value(b))));
  }));

  // ---- the timeline ----
  const unitOf = (us) => (us >= 1e6 ? [1e6, "s"] : us >= 1e3 ? [1e3, "ms"] : [1, "µs"]);
  const duration = (us) => { const [scale, unit] = unitOf(us); return `${us / scale >= 99.95 ? (us / scale).toFixed(0) : (us / scale).toPrecision(3)} ${unit}`; };
  // What takes the time, of each track the most first; the rest together.
  function totals(events) {
    const body = document.querySelector("#event-table tbody");
    if (body.rows.length) return;
    for (const track of ["card", "host"]) {
      const groups = new Map(), mine = events.filter((e) => e.track === track);
      for (const e of mine) { const g = groups.get(e.name) || { count: 0, time: 0 }; g.count++; g.time += e.time; groups.set(e.name, g); }
      const all = mine.reduce((sum, e) => sum + e.time, 0);
      for (const [name, g] of [...groups].sort((a, b) => b[1].time - a[1].time)) {
        const share = all ? (100 * g.time) / all : 0;
        const meter = make("span", { class: "meter" }, make("i", { style: `width:${share}%` }));
        body.append(make("tr", {}, make("td", { class: "name" }, name), make("td", {}, track), make("td", { class: "n" }, String(g.count)),
          make("td", { class: "n" }, duration(g.time)), make("td", { class: "n" }, duration(g.time / g.count)), make("td", { class: "dims" }, meter, ` ${share.toFixed(share < 10 ? 1 : 0)} %`)));
      }
    }
  }
  let span = null;
  function tracks() {
    const canvas = $("tracks"), events = data.events || [];
    const end = Math.max(...events.map((e) => e.start + e.time));
    // The last run of kernels that follow one another within a millisecond.
    const card = events.filter((e) => e.track === "card");
    const burst = card.findLastIndex((e, i) => i === 0 || e.start - (card[i - 1].start + card[i - 1].time) > 1000);
    span ||= burst < 0 ? [0, end] : [card[burst].start, end];
    $("all").onclick = () => { span = [0, end]; paint(); };
    const names = [...new Set(events.map((e) => e.name))];
    const used = ["host", "card"].filter((track) => events.some((e) => e.track === track));
    totals(events);
    canvas.style.height = 60 + used.length * 70 + "px";
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(["--product", "--elementwise", "--reduction", "--op", "--type", "--symbol"][names.indexOf(name) % 6]);
    const paint = () => {
      const width = canvas.clientWidth, height = canvas.clientHeight, ratio = devicePixelRatio;
      canvas.width = width * ratio; canvas.height = height * ratio;
      const g = canvas.getContext("2d");
      g.scale(ratio, ratio);
      g.font = "12px system-ui";
      const x = (t) => 60 + ((t - span[0]) / (span[1] - span[0])) * (width - 70);
      used.forEach((track, i) => {
        const top = 24 + i * 70;
        g.fillStyle = style.getPropertyValue("--soft");
        g.fillText(track, 12, top + 24);
        for (const e of events.filter((e) => e.track === track)) {
          const left = x(e.start), w = Math.max(0.6, x(e.start + e.time) - left);
          if (left + w < 60 || left > width) continue;
          g.fillStyle = colour(e.name);
          g.fillRect(Math.max(60, left), top, Math.min(w, width), 40);
          if (w > 60) { g.save(); g.beginPath(); g.rect(Math.max(60, left), top, w, 40); g.clip(); g.fillStyle = style.getPropertyValue("--paper"); g.fillText(e.name, Math.max(60, left) + 6, top + 24); g.restore(); }
        }
      });
      g.fillStyle = style.getPropertyValue("--soft");
      // As many marks as there is room for, with the digits that tell them apart.
      const count = Math.max(1, Math.min(6, Math.floor((width - 70) / 110)));
      const step = (span[1] - span[0]) / count, [scale, unit] = unitOf(span[1] - span[0]);
      const digits = Math.max(0, Math.ceil(-Math.log10(step / scale)) + 1);
      for (let i = 0; i <= count; i++) {
        g.textAlign = i === count ? "right" : i ? "center" : "left";
        // The first by the clock, the others from there.
        const text = i || !span[0] ? `${span[0] ? "+" : ""}${((step * i) / scale).toFixed(digits)} ${unit}` : `at ${duration(span[0])}`;
        g.fillText(text, x(span[0] + step * i), height - 14);
      }
    };
    const timeAt = (e) => span[0] + ((e.offsetX - 60) / (canvas.clientWidth - 70)) * (span[1] - span[0]);
    canvas.onwheel = (e) => { e.preventDefault(); const t = timeAt(e), f = e.deltaY > 0 ? 1.25 : 0.8; span = [Math.max(0, t - (t - span[0]) * f), Math.min(end, t + (span[1] - t) * f)]; paint(); };
    canvas.onpointermove = (e) => {
      if (e.buttons) { const d = (-e.movementX / (canvas.clientWidth - 70)) * (span[1] - span[0]); if (span[0] + d >= 0 && span[1] + d <= end) span = [span[0] + d, span[1] + d]; paint(); }
      const t = timeAt(e), track = used[Math.max(0, Math.min(used.length - 1, Math.floor((e.offsetY - 24) / 70)))], over = events.find((v) => v.track === track && v.start <= t && t <= v.start + v.time);
      $("event").textContent = over ? `${over.name}: ${duration(over.time)}` : "\u00a0";
    };
    paint();
  }

  list();
  welcome();
  const start = data.snapshots.find((s) => s.hunks && s.hunks.length) || data.snapshots[0];
  if (start) show({ snapshot: start });
  // For tests and bookmarks: #kernels, #memory, ... opens a view.
  const named = location.hash.slice(1);
  if (document.querySelector(`[data-view="${CSS.escape(named)}"]`)) view(named);
  document.documentElement.dataset.ready = "true";
})();
