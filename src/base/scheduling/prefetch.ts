/**
 * Concatenates streams with prefetch: the first items of the next `ahead` streams are requested while the current one is consumed. Those items are held in
 * memory.
 */
export async function* prefetched<T>(
  streams: Iterable<AsyncGenerator<T, void>>,
  ahead = 1,
): AsyncGenerator<T, void> {
  const begun: Begun<T>[] = []
  try {
    for (const stream of streams) {
      begun.push(begin(stream))
      const current = begun.length > ahead ? begun.shift() : undefined
      if (current !== undefined) yield* itemsOf(current)
    }
    for (let current = begun.shift(); current !== undefined; current = begun.shift()) yield* itemsOf(current)
  } finally {
    await Promise.all(
      begun.map(async ({ stream, first }) => {
        await first.catch(() => {})
        await stream.return()
      }),
    )
  }
}

interface Begun<T> {
  readonly stream: AsyncGenerator<T, void>
  readonly first: Promise<IteratorResult<T, void>>
}

function begin<T>(stream: AsyncGenerator<T, void>): Begun<T> {
  const first = stream.next()
  first.catch(() => {}) // Rejects when awaited in `itemsOf`.
  return { stream, first }
}

async function* itemsOf<T>({ stream, first }: Begun<T>): AsyncGenerator<T, void> {
  try {
    const { done, value } = await first
    if (done === true) return
    yield value
    yield* stream
  } finally {
    await stream.return()
  }
}
