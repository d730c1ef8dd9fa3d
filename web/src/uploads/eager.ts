/** Reads a source at once, however slowly the result is read. */
export function eager<T>(source: AsyncIterable<T>): AsyncIterable<T> {
  const found: T[] = []
  let wake = Promise.withResolvers<void>()
  let hasEnded = false
  const read = async () => {
    for await (const one of source) {
      found.push(one)
      wake.resolve()
    }
  }
  const reading = read().finally(() => {
    hasEnded = true
    wake.resolve()
  })
  reading.catch(() => undefined)
  return (async function* () {
    for (;;) {
      for (let next = found.shift(); next !== undefined; next = found.shift()) yield next
      if (hasEnded) return await reading
      await wake.promise
      wake = Promise.withResolvers()
    }
  })()
}
