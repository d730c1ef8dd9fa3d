import { bytes } from '../../../base/schemas/index.ts'
import { readApiToken } from '../../../platform/http/index.ts'
import { integer, optional } from '../../../platform/input/index.ts'
import { rawResponse } from '../../../platform/responses/index.ts'
import { parseInteger } from '../common/parse-values.ts'
import { liveAlive, liveMessage, liveReady, liveReset } from './live-event-wire.ts'
import { route } from './services.ts'

export const liveEventRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/events/',
    auth: 'user',
    summary: 'Streams live events (server-sent events); `since` or `Last-Event-ID` resumes a stream.',
    compatibility: 'addition',
    query: { since: optional(integer({ min: 0 })) },
    responses: () => ({
      200: bytes('text/event-stream', 'A stream of server-sent events that the server does not end.'),
    }),
    details: () => ({
      parameters: { since: { description: 'The id of the last event that was received.' } },
      requestHeaders: { 'Last-Event-ID': 'As `since`. Browsers send it when they connect again.' },
    }),
    async handle({ user, query, request }, { activity, apiTokens }) {
      const apiToken = readApiToken(request.headers.authorization)
      const stream = await activity.live.open(user, {
        since: sentSince(request.headers['last-event-id'], query.since),
        render: liveMessage,
        ready: liveReady,
        reset: liveReset,
        alive: liveAlive,
        identify: async () => {
          const found = await apiTokens.authenticate(apiToken)
          return 'ok' in found ? found.ok : undefined
        },
      })
      request.signal.addEventListener('abort', () => stream.end(), { once: true })
      if (request.signal.aborted) stream.end()
      return rawResponse({
        headers: {
          'Content-Type': 'text/event-stream; charset=utf-8',
          'Cache-Control': 'no-store',
          // Buffering proxies would delay events.
          'X-Accel-Buffering': 'no',
        },
        body: stream,
      })
    },
  }),
]

/** Browsers send the last event id. An unknown id is answered with a reset, because an error would stop reconnects. */
function sentSince(
  header: string | string[] | undefined,
  since: number | undefined,
): number | null | undefined {
  if (typeof header !== 'string' || header === '') return since
  const id = parseInteger(header)
  return id === undefined || id < 0 ? null : id
}
