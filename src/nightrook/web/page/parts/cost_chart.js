// Bars of what each day cost: what agents reported, and on top of it what is estimated.

import uPlot from "../vendor/uplot/uplot.js";

const HEIGHT = 220;
const DAY = 86_400; // seconds

export function costChart(place, rows) {
  const days = filled(rows);
  const plot = new uPlot(options(place), [days.map((day) => day.at), days.map((day) => day.native + day.estimated), days.map((day) => day.native)], place);
  const resize = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }));
  resize.observe(place);
  const themes = matchMedia("(prefers-color-scheme: dark)");
  const redraw = () => plot.redraw(false, true);
  themes.addEventListener("change", redraw);
  plot.hooks.destroy = [() => (resize.disconnect(), themes.removeEventListener("change", redraw))];
  return plot;
}

/** Every day from the first to the last, also those without a row. */
export function filled(rows) {
  const known = new Map(rows.map((row) => [row.day, row.cost_usd]));
  const names = [...known.keys()].filter(Boolean).sort();
  if (!names.length) return [];
  const days = [];
  const day = new Date(`${names[0]}T00:00:00`);
  for (let name = names[0]; name <= names.at(-1) && days.length < 4000; name = iso(day)) {
    const cost = known.get(name) ?? { native: 0, estimated: 0 };
    days.push({ at: day.getTime() / 1000, ...cost });
    day.setDate(day.getDate() + 1);
  }
  return days;
}

function iso(date) {
  const two = (number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function options(place) {
  const colour = (name) => () => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const bars = uPlot.paths.bars({ size: [0.62, 28], radius: 0.15 });
  const axis = { stroke: colour("--faint"), font: "12px system-ui, sans-serif", ticks: { show: false } };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { x: { time: true, range: (_, first, last) => [first - DAY / 2, last + DAY / 2] }, y: { range: (_, __, most) => [0, Math.max(most * 1.1, 0.01)] } },
    axes: [
      { ...axis, grid: { show: false }, values: (_, splits) => splits.map((at) => new Date(at * 1000).toLocaleDateString("en-GB", { day: "numeric", month: "short" })), incrs: [1, 2, 7, 14, 30].map((days) => days * DAY), size: 28 },
      { ...axis, grid: { stroke: colour("--line"), width: 1 }, size: 56, values: (_, splits) => splits.map((usd) => `$${usd < 1 && usd > 0 ? usd.toFixed(2) : usd}`) },
    ],
    series: [
      {},
      { label: "estimated", fill: colour("--estimated"), stroke: "transparent", width: 0, paths: bars, points: { show: false } },
      { label: "reported", fill: colour("--native"), stroke: "transparent", width: 0, paths: bars, points: { show: false } },
    ],
  };
}
