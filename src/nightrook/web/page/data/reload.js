// Loads something, and once more if that is asked for meanwhile: what is on its way may be older.

export class Reload {
  #load;
  #loading = null;
  #again = false;

  constructor(load) {
    this.#load = load;
  }

  get isRunning() {
    return this.#loading !== null;
  }

  start() {
    this.#again = this.isRunning;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
      if (this.#again) this.start();
    });
    return this.#loading;
  }
}
