import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { call } from '../api/index.ts'
import { readEventStream } from './event-stream.ts'
import { type LiveEvent, staleQueries } from './stale-queries.ts'

const RETRY_MS = [1000, 2000, 5000, 10_000, 30_000]
/** Debounce: commits in quick succession cause one refetch. */
const DEBOUNCE_MS = 300
/** Debounce while commits keep coming, so that a large folder is not refetched several times a second. */
const BUSY_MS = 1500

/** Follows live events while mounted and invalidates the queries they make stale. */
export function useLive(): void {
  const queries = useQueryClient()
  useEffect(() => {
    const stopping = new AbortController()
    const refresh = refresher(queries)
    void listen(stopping.signal, (event) => {
      for (const key of staleQueries(event)) refresh(key)
    })
    return () => stopping.abort()
  }, [queries])
}

function refresher(queries: QueryClient): (key: readonly string[]) => void {
  const waiting = new Map<string, readonly string[]>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let last = Number.NEGATIVE_INFINITY
  function flush(): void {
    timer = undefined
    last = performance.now()
    const keys = [...waiting.values()]
    waiting.clear()
    for (const queryKey of keys) {
      // A fetch in flight is not cancelled: a long list that keeps changing would never finish loading.
      if (queries.isFetching({ queryKey }) > 0) refresh(queryKey)
      else void queries.invalidateQueries({ queryKey })
    }
  }
  function refresh(key: readonly string[]): void {
    waiting.set(key.join('\n'), key)
    const isBusy = performance.now() - last < BUSY_MS
    timer ??= setTimeout(flush, isBusy ? BUSY_MS : DEBOUNCE_MS)
  }
  return refresh
}

async function listen(signal: AbortSignal, onEvent: (event: LiveEvent) => void): Promise<void> {
  let since: string | undefined
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const headers = { Accept: 'text/event-stream', ...(since !== undefined && { 'Last-Event-ID': since }) }
      const response = await call('GET', 'api/v2.1/events/', { signal, headers })
      for await (const fields of readEventStream(response)) {
        failures = 0
        since = fields['id'] ?? since
        const { event: name = '', data } = fields
        if (data !== undefined) onEvent({ name: name as LiveEvent['name'], data: JSON.parse(data) })
      }
    } catch {
      // The connection broke, was refused or sent something unreadable: reconnect after a pause.
    }
    if (signal.aborted) return
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]))
  }
}
