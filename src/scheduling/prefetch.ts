/** Concatenates streams with prefetch: the first item of the next stream is requested while the current one is consumed. */
export async function* prefetched<T>(streams: Iterable<AsyncGenerator<T, void>>): AsyncGenerator<T, void> {
  let next: Begun<T> | undefined
  try {
    for (const stream of streams) {
      const current = next
      next = begin(stream)
      if (current !== undefined) yield* itemsOf(current)
    }
    const last = next
    next = undefined
    if (last !== undefined) yield* itemsOf(last)
  } finally {
    await next?.first.catch(() => {})
    await next?.stream.return()
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
