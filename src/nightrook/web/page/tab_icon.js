// The tab's title and icon show how many questions wait.

const ICON = "/app/icon.svg";
const SIZE = 64;
let shown = 0;

export function showWaiting(title, waiting) {
  const name = title ? `${title} · Nightrook` : "Nightrook";
  const wanted = waiting ? `(${waiting}) ${name}` : name;
  if (document.title !== wanted) document.title = wanted;
  if (waiting !== shown) {
    shown = waiting;
    document.getElementById("icon").href = waiting ? drawn(waiting) : ICON;
  }
}

/** The icon with a number in a corner, as an address that loads nothing. */
function drawn(waiting) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIZE;
  const context = canvas.getContext("2d");
  context.fillStyle = "#d97706";
  context.beginPath();
  context.roundRect(0, 0, SIZE, SIZE, 16);
  context.fill();
  context.fillStyle = "#fff";
  context.font = `700 ${waiting > 9 ? 36 : 46}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(waiting > 99 ? "99" : String(waiting), SIZE / 2, SIZE / 2 + 3);
  return canvas.toDataURL();
}
