import { Readable } from 'node:stream'
import { TimeSlicer } from '../../../base/scheduling/index.ts'
import { bytes, json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { type AuditEntry, type AuditFilter, isAuditAction } from '../../../people/audit/index.ts'
import { integer, optional, optionalText, type Reader, type Values } from '../../../platform/input/index.ts'
import { errorMessage, rawResponse } from '../../../platform/responses/index.ts'
import { parseTime } from '../common/parse-values.ts'
import { auditEntryToWire } from './admin-wire.ts'
import { auditEntry, auditFilter } from './server.schema.ts'
import { statusRoute as route } from './services.ts'

/** A time as ISO 8601; a date alone ends its day if `dayEnds`. */
function time(dayEnds: boolean): Reader<number | undefined> {
  return (fields, name) => {
    const sent = optionalText()(fields, name)
    if (!sent) return undefined
    const at = parseTime(sent, { dayEnds })
    if (at === undefined) throw errorMessage(400, `${name} invalid.`)
    return at
  }
}

const action: Reader<AuditFilter['action']> = (fields, name) => {
  const sent = optionalText()(fields, name)
  if (!sent) return undefined
  if (!isAuditAction(sent)) throw errorMessage(400, 'action invalid.')
  return sent
}

const filters = {
  actor: optionalText(),
  action,
  /** A library id; any other object is found by `object_id`. */
  repo_id: optionalText(),
  object_id: optionalText(),
  from: time(false),
  to: time(true),
}

export const adminAuditRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/admin/audit-log/',
    auth: 'admin',
    summary:
      'Lists the audit log, newest first. Pass the `next` of a response as `before` for the next page.',
    compatibility: 'addition',
    callers: 'administrators',
    query: {
      ...filters,
      before: optional(integer({ min: 1 })),
      per_page: integer({ default: 100, min: 1, max: 1000, lenient: true }),
    },
    responses: () => ({
      200: json(
        kinds.record('AuditLog', {
          entries: kinds.array(auditEntry),
          next: kinds.orNull(kinds.integer('The `before` of the next page. Null on the last page.')),
        }),
        'A page of entries, newest first.',
      ),
    }),
    details: () => ({
      parameters: { ...auditFilter, before: { description: 'The `next` of the previous page.' } },
    }),
    async handle({ query }, { audit }) {
      const page = { before: query.before, limit: query.per_page }
      const { entries, next } = await audit.list(filterOf(query), page)
      return { entries: entries.map(auditEntryToWire), next: next ?? null }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/admin/audit-log/export/',
    auth: 'admin',
    summary: 'Exports the audit log, newest first, as one JSON object per line.',
    compatibility: 'addition',
    callers: 'administrators',
    query: filters,
    responses: () => ({
      200: bytes('application/x-ndjson', 'One entry on each line, newest first.', {
        'Content-Disposition': 'The name of the file.',
      }),
    }),
    details: () => ({ parameters: auditFilter }),
    async handle({ user, query, request }, { audit }) {
      const pages = await audit.export(auditActor(user, request), filterOf(query))
      return rawResponse({
        headers: {
          'Content-Type': 'application/x-ndjson; charset=utf-8',
          'Content-Disposition': 'attachment; filename="audit-log.ndjson"',
        },
        body: Readable.from(lines(pages), { objectMode: false }),
      })
    },
  }),
]

async function* lines(pages: AsyncIterable<AuditEntry[]>): AsyncGenerator<string> {
  const slicer = new TimeSlicer()
  for await (const entries of pages) {
    if (slicer.isDue) await slicer.rest()
    yield entries.map((entry) => `${JSON.stringify(auditEntryToWire(entry))}\n`).join('')
  }
}

function filterOf(query: Values<typeof filters>): AuditFilter {
  return {
    actor: query.actor || undefined,
    action: query.action,
    objectId: query.repo_id || query.object_id || undefined,
    from: query.from,
    to: query.to,
  }
}
