// Which parts of a text have been in sight. A part counts once all of it was, and nothing covered it.

const ALL = 0.99; // of a part; edges may fall between two pixels

export class SeenParts {
  #wanted = new Map(); // the element of each part
  #seen = new Set();
  #missed = new Set(); // elements in sight of a page that was hidden just then
  #observer = null;
  #covered = -1; // pixels at the end of the view that the buttons cover
  #onchange;

  constructor(onchange) {
    this.#onchange = onchange;
  }

  get isComplete() {
    return this.#wanted.size > 0 && [...this.#wanted.keys()].every((part) => this.#seen.has(part));
  }

  /** Watch these elements inside a scrolling one; each has the name of its part. */
  watch(root, elements, covered) {
    const wanted = new Map([...elements].map((element) => [element.dataset.part, element]));
    if (covered !== this.#covered) this.#restart(root, covered);
    for (const [part, element] of this.#wanted) if (wanted.get(part) !== element) this.#observer.unobserve(element);
    for (const [part, element] of wanted) if (this.#wanted.get(part) !== element) this.#observer.observe(element);
    this.#wanted = wanted;
    if (document.visibilityState === "visible") this.#lookAgain();
  }

  close() {
    this.#observer?.disconnect();
  }

  #restart(root, covered) {
    this.#observer?.disconnect();
    this.#covered = covered;
    this.#wanted = new Map();
    const options = { root, rootMargin: `0px 0px ${-covered}px 0px`, threshold: [0, 0.5, ALL, 1] };
    this.#observer = new IntersectionObserver((entries) => this.#looked(entries), options);
  }

  #looked(entries) {
    const before = this.#seen.size;
    for (const { target, isIntersecting, intersectionRatio } of entries) {
      if (!isIntersecting || intersectionRatio < ALL) continue;
      if (isShown(target)) this.#seen.add(target.dataset.part);
      else this.#missed.add(target);
    }
    if (this.#seen.size !== before) this.#onchange();
  }

  /** An observer reports changes only: have it report again what it reported while the page was hidden. */
  #lookAgain() {
    for (const element of this.#missed) {
      this.#observer.unobserve(element);
      if (element.isConnected) this.#observer.observe(element);
    }
    this.#missed.clear();
  }
}

function isShown(element) {
  return document.visibilityState === "visible" && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
}
