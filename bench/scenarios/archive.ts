import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom } from '../../test/support/random.ts'
import { unzip } from '../../test/support/zip-reader.ts'
import type { BenchServer } from '../bench-server.ts'
import { measureSha1 } from '../limits/sha1.ts'
import { digits } from '../load/request-template.ts'
import { median } from '../median.ts'
import type { Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { contentSha1, fileName, fill, randomContent } from '../transfers.ts'

const FILE_BYTES = 100 * 1024
const FILES_PER_REQUEST = 10
const ROUNDS = 3
const FOLDER = 'folder'

/** An archive of a folder of 1,000 files: requested, polled as clients do, and downloaded. */
export const archive: Scenario = {
  name: 'archive',
  async run(context) {
    await using workspace = await context.workspace()
    const server = await workspace.serve()
    return [
      await measure(context, server, 'random bytes', (k) => randomContent(FILE_BYTES, k)),
      await measure(context, server, 'text', (k) => textContent(FILE_BYTES, k)),
    ]
  },
}

async function measure(
  context: Context,
  server: BenchServer,
  kind: string,
  contentOf: (k: number) => string,
): Promise<Row> {
  const contents = Array.from({ length: FILES_PER_REQUEST }, (_, k) => contentOf(k))
  const files = context.size(1000, 20)
  const library = await server.client.createLibrary(kind)
  await fill(server, library, FOLDER, contents, files / FILES_PER_REQUEST)
  const rounds = []
  for (let round = 0; round < context.size(ROUNDS, 1); round++) {
    rounds.push(await server.meter(() => fetchArchive(server, library)))
  }
  const { ms, bytes, usage } = median(rounds, (one) => one.ms)
  const entries = unzip(bytes)
  const some = entries.get(`${FOLDER}/${fileName(0).replace('{n}', digits(0))}`)
  const sha1 = some && createHash('sha1').update(some).digest('hex')
  const stored = [...entries.values()].filter((content) => content !== null).length
  if (stored !== files || sha1 !== contentSha1(contents[0] ?? '', 0)) {
    throw new Error(`the archive has ${stored} of ${files} files, or other bytes in them`)
  }
  return {
    what: `archive of ${files.toLocaleString('en-US')} × 100 KiB of ${kind}, made and fetched`,
    value: ms,
    unit: 'ms',
    usage,
    limit: { value: ((files * FILE_BYTES) / measureSha1(context.limitMs)) * 1000, of: 'SHA-1 of its files' },
    target: { atMost: 1500 },
  }
}

/** The time until the last byte, and the archive. */
async function fetchArchive(
  { client }: BenchServer,
  library: string,
): Promise<{ ms: number; bytes: Buffer }> {
  const began = performance.now()
  const form = { parent_dir: '/', dirents: FOLDER }
  const started = await client.post(`/api/v2.1/repos/${library}/zip-task/`, { form })
  if (started.status !== 200) throw new Error(`no archive: ${started.status} ${started.text}`)
  const token = String(started.body.zip_token)
  for (;;) {
    const { status, body, text } = await client.get('/api/v2.1/query-zip-progress/', { token })
    if (status !== 200 || body.failed === 1) throw new Error(`no archive: ${status} ${text}`)
    if (body.zipped === body.total) break
    await delay(5)
  }
  const response = await fetch(`${client.url}/seafhttp/zip/${token}`)
  if (response.status !== 200) throw new Error(`no archive: ${response.status} ${await response.text()}`)
  const bytes = Buffer.from(await response.arrayBuffer())
  const ms = performance.now() - began
  await client.post('/api/v2.1/cancel-zip-task/', { form: { token } })
  return { ms, bytes }
}

/** Words and numbers that compress to about a third. */
function textContent(bytes: number, k: number): string {
  const random = seededRandom(k)
  const letters = 'etaoinshrdlucmfw'
  const word = () =>
    Array.from({ length: 2 + Math.floor(random() * 7) }, () => letters[Math.floor(random() * 16)]).join('')
  const words = Array.from({ length: 2000 }, word)
  let text = `{n}${digits(k)}`
  const length = bytes - digits(0).length + '{n}'.length
  while (text.length < length) text += ` ${words[Math.floor(random() ** 2 * words.length)]}`
  return text.slice(0, length)
}
