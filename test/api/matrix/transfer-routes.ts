import type { Client } from '../../support/client.ts'
import { BOUNDARY, formBytes, type SentPart } from '../../support/transfer.ts'
import { open, type Policy, type Sent, self, type Table, under } from './policy.ts'
import { expectOk, type Stage } from './stage.ts'

/** Callers by their ticket: whose it is, and whether it is still valid. */
const held: Policy = {
  unknownTicket: 'denied',
  otherOperation: 'denied',
  unshared: 'denied',
  deactivated: 'denied',
  owner: 'ok',
}
const reads: Policy = { ...held, reader: 'ok', writer: 'ok' }
const writes: Policy = { ...held, writer: 'ok' }

/** The ticket in an issued URL. */
export const ticketIn = (url: string): string =>
  /[-0-9a-f]{36}/.exec(url.replace(/.*\/seafhttp\//, ''))?.[0] ?? url

type Ask = (client: Client, stage: Stage) => Promise<string>
const asked =
  (path: string, query: Record<string, string | number>): Ask =>
  async (client, { id }) => {
    return expectOk(await client.get(`/api2/repos/${id}/${path}/`, query)).body
  }
const download = asked('file', { p: '/in.txt', reuse: 1 })
const upload = asked('upload-link', { p: '/' })
const update = asked('update-link', { p: '/' })
const updateBlocks = asked('update-blks-link', { p: '/' })
const uploadBlocks: Ask = async (client, { id }) => {
  const reply = await client.post(`/api2/repos/${id}/upload-blks-link/`, {
    query: { p: '/' },
    form: { blklist: '' },
  })
  return expectOk(reply).body.rawblksurl
}
const zip: Ask = async (client, { id }) => {
  const form = { parent_dir: '/', dirents: 'in.txt' }
  const { zip_token: token } = expectOk(await client.post(`/api/v2.1/repos/${id}/zip-task/`, { form })).body
  for (;;) {
    const { body } = await client.get('/api/v2.1/query-zip-progress/', { token })
    if (body.zipped === body.total) return token
  }
}
const block: Ask = async (client, stage) => {
  const { file_id, blklist } = await stage.file()
  const url = `/api2/repos/${stage.id}/files/${file_id}/blks/${blklist[0]}/download-link/`
  return expectOk(await client.get(url)).body
}

const withTicket = (ask: Ask, other: Ask, more: (stage: Stage) => Sent | Promise<Sent> = () => ({})) => {
  return async (stage: Stage, caller: string): Promise<Sent> => {
    const sent = await more(stage)
    return {
      ...sent,
      as: stage.cast.callers.anonymous,
      params: { ...sent.params, ticket: await ticketOf(stage, caller, ask, other) },
    }
  }
}

async function ticketOf(stage: Stage, caller: string, ask: Ask, other: Ask): Promise<string> {
  if (caller === 'unknownTicket') return '01234567-89ab-4cde-8f01-23456789abcd'
  if (caller === 'otherOperation') return ticketIn(await other(stage.owner, stage))
  // Most tickets are for one use.
  return ticketIn(await stage.ticket(caller, stage.fresh(), (client) => ask(client, stage)))
}

const form = (...parts: SentPart[]): Sent => ({
  raw: formBytes(parts),
  headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
})
const uploaded = (stage: Stage) => form(['parent_dir', '/'], { filename: stage.fresh('.txt'), bytes: 'new' })
const updated = () => form(['target_file', '/in.txt'], { filename: 'in.txt', bytes: 'newer' })
const fields = (text: Record<string, string>, query = {}): Sent => ({
  query: { commitonly: 'true', ...query },
  raw: String(new URLSearchParams(text)),
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
})
const inBlock = async (stage: Stage) => {
  const { blklist } = await stage.file()
  return { file_size: '3', blockids: JSON.stringify(blklist) }
}
const preflights = [
  'upload-api',
  'upload-aj',
  'update-api',
  'update-aj',
  'upload-raw-blks-api',
  'upload-blks-api',
  'update-blks-api',
]
const unfinished: Policy = Object.fromEntries(Object.keys(reads).map((caller) => [caller, 400]))
const unknownTask = Object.fromEntries(Object.keys(open).map((caller) => [caller, 'absent' as const]))

const notTheirs = Object.fromEntries(
  Object.entries(self).map(([caller, outcome]) => [caller, outcome === 'ok' ? ('absent' as const) : outcome]),
)
const TASK = '01234567-89ab-4cde-8f01-23456789abcd'

/** Uploads, downloads and archives. */
export const transferRoutes: Table = {
  ...under(reads, {
    'GET /seafhttp/files/:ticket/:name': withTicket(download, upload, () => ({ params: { name: 'in.txt' } })),
    'GET /seafhttp/blks/:ticket/:block_id': withTicket(block, upload, async (stage) => ({
      params: { block_id: (await stage.file()).blklist[0] },
    })),
    'GET /seafhttp/zip/:ticket': withTicket(zip, download),
  }),
  ...under(writes, {
    'POST /seafhttp/upload-api/:ticket': withTicket(upload, download, uploaded),
    'POST /seafhttp/upload-aj/:ticket': withTicket(upload, download, uploaded),
    'POST /seafhttp/update-api/:ticket': withTicket(update, upload, updated),
    'POST /seafhttp/update-aj/:ticket': withTicket(update, upload, updated),
    'POST /seafhttp/upload-raw-blks-api/:ticket': withTicket(uploadBlocks, download, async () => {
      return form({ filename: '0a4d55a8d778e5022fab701977c5d840bbc486d0', bytes: 'Hello World' })
    }),
    'POST /seafhttp/upload-blks-api/:ticket': withTicket(uploadBlocks, download, async (stage) => {
      const file_name = stage.fresh('.bin')
      return fields({ parent_dir: '/', file_name, ...(await inBlock(stage)) })
    }),
    'POST /seafhttp/update-blks-api/:ticket': withTicket(updateBlocks, uploadBlocks, async (stage) => {
      return fields({ target_file: '/docs/in.txt', ...(await inBlock(stage)) })
    }),
  }),
  ...under(
    open,
    Object.fromEntries(
      preflights.map((name) => [`OPTIONS /seafhttp/${name}/:ticket`, { params: { ticket: 'any' } }]),
    ),
  ),
  // A URL without its last segment.
  ...under(unfinished, {
    'GET /seafhttp/files/:ticket': withTicket(download, upload),
    'GET /seafhttp/zip/': {},
  }),
  ...under(unknownTask, {
    'GET /seafhttp/idx_progress': { query: { task_id: '0' } },
    'GET /api/v2.1/query-zip-progress/': { query: { token: TASK } },
  }),
  // As documented.
  ...under(
    Object.fromEntries(
      Object.entries(notTheirs).map(([caller, one]) => [caller, one === 'absent' ? 500 : one]),
    ),
    {
      'GET /api/v2.1/query-copy-move-progress/': { query: { task_id: TASK } },
    },
  ),
  // Canceling nothing is no error.
  ...under(open, {
    'POST /api/v2.1/cancel-zip-task/': { form: { token: TASK } },
  }),
  ...under(self, { 'DELETE /api/v2.1/copy-move-task/': { form: { task_id: TASK } } }),
}
