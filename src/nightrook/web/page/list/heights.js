// The heights of many rows, and where each row begins: known in O(log n), whatever changes.

export class Heights {
  #estimate;
  #heights = new Float64Array(0);
  #sums = new Float64Array(1); // a Fenwick tree over #heights
  count = 0;

  constructor(estimate) {
    this.#estimate = estimate;
  }

  /** Set how many rows there are; new ones have the estimated height. */
  resize(count) {
    if (count > this.#heights.length) this.#reserve(Math.max(count, 2 * this.#heights.length, 64));
    for (let index = count; index < this.count; index += 1) this.set(index, this.#estimate);
    this.count = count;
  }

  get(index) {
    return this.#heights[index];
  }

  /** Set the height of a row; returns by how much it changed. */
  set(index, height) {
    const change = height - this.#heights[index];
    if (change === 0) return 0;
    this.#heights[index] = height;
    for (let at = index + 1; at < this.#sums.length; at += at & -at) this.#sums[at] += change;
    return change;
  }

  /** Where a row begins: the sum of all heights before it. */
  top(index) {
    let sum = 0;
    for (let at = index; at > 0; at -= at & -at) sum += this.#sums[at];
    return sum;
  }

  get total() {
    return this.top(this.count);
  }

  /** The row at an offset; the last one if the offset is behind it, 0 if it is before the first. */
  at(offset) {
    let index = 0;
    let left = offset;
    for (let step = 2 ** Math.floor(Math.log2(this.#sums.length)); step >= 1; step /= 2) {
      const next = index + step;
      if (next < this.#sums.length && this.#sums[next] <= left) {
        index = next;
        left -= this.#sums[next];
      }
    }
    return Math.max(0, Math.min(index, this.count - 1));
  }

  #reserve(capacity) {
    const heights = new Float64Array(capacity).fill(this.#estimate);
    heights.set(this.#heights);
    const sums = new Float64Array(capacity + 1);
    sums.set(heights, 1);
    for (let at = 1; at < sums.length; at += 1) {
      const parent = at + (at & -at);
      if (parent < sums.length) sums[parent] += sums[at];
    }
    this.#heights = heights;
    this.#sums = sums;
  }
}
