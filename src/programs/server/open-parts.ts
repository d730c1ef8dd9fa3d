/** The opened parts of the server. Closes them in reverse order and names the one it is waiting for. */
export class OpenParts implements AsyncDisposable {
  #opened: (readonly [name: string, part: AsyncDisposable])[] = []
  closing: string | undefined

  use<Part extends AsyncDisposable>(name: string, part: Part): Part {
    this.#opened.push([name, part])
    return part
  }

  /** Moves all parts to a new object; this one then closes nothing. */
  move(): OpenParts {
    const to = new OpenParts()
    to.#opened = this.#opened.splice(0)
    return to
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stack = new AsyncDisposableStack()
    for (const [name, part] of this.#opened.splice(0)) {
      stack.defer(async () => {
        this.closing = name
        await part[Symbol.asyncDispose]()
      })
    }
    try {
      await stack.disposeAsync()
    } finally {
      this.closing = undefined
    }
  }
}
