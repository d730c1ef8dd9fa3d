/**
 * Marks a rejection as handled. Callers may start several statements and await them one after another. If the first fails, nobody awaits the others,
 * whose rejections would end the process.
 */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignore)
  return promise
}

function ignore(): void {}
