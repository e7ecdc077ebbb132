// The latest of several tasks: a new one cancels the one before, whose result is then never used.
export class Latest {
  #controller = new AbortController();

  // Runs `task(signal)`, then `use(result)` or `fail(error)`, unless another task has begun meanwhile.
  async run(task, use, fail) {
    this.cancel();
    const { signal } = this.#controller;
    try {
      const result = await task(signal);
      if (!signal.aborted) await use(result, signal);
    } catch (error) {
      if (!signal.aborted) fail(error);
    }
  }

  cancel() {
    this.#controller.abort();
    this.#controller = new AbortController();
  }
}
