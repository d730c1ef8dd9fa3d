import type { BenchServer } from '../bench-server.ts'
import type { Measured } from '../http-target.ts'
import { LongBodies } from '../load/stream-body.ts'
import type { StreamResult } from '../load/stream-plan.ts'
import { longUpload } from '../long-upload.ts'
import { median } from '../median.ts'
import type { Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { sizeText } from '../size-text.ts'
import { downloadPath, expectContent, uploadPath } from '../transfers.ts'

const MIB = 2 ** 20
const ROUNDS = 3
const PASSWORD = 'for the bench'

/** Large uploads and downloads of an encrypted library, alternating with a plain one. */
export const encrypted: Scenario = {
  name: 'encrypted',
  async run(context) {
    await using workspace = await context.workspace()
    const server = await workspace.serve()
    const bytes = context.size(512, 10) * MIB
    const plain = await measurements(server, await server.client.createLibrary('Plain'))
    const secret = await measurements(server, await encryptedLibrary(server))
    for (let round = 0; round < context.size(ROUNDS, 1); round++) {
      for (const side of [plain, secret]) await measure(context, server, side, bytes)
    }
    return [
      ...rowsOf('upload', plain.uploads, secret.uploads),
      ...rowsOf('download', plain.reads, secret.reads),
    ]

    function rowsOf(what: string, plainOnes: Rounds, secretOnes: Rounds): Row[] {
      const rateOf = ({ seconds }: StreamResult) => bytes / seconds / 1e6
      const [usual, ours] = [median(plainOnes, rateOf), median(secretOnes, rateOf)]
      const size = sizeText(bytes)
      return [
        {
          what: `${what} of ${size}, encrypted`,
          value: rateOf(ours),
          unit: 'MB/s',
          usage: ours.usage,
          limit: { value: rateOf(usual), of: `plain ${what}` },
        },
        { what: `${what} of ${size}, plain`, value: rateOf(usual), unit: 'MB/s', usage: usual.usage },
      ]
    }
  },
}

type Rounds = Measured<StreamResult>[]

interface Side {
  readonly library: string
  readonly path: string
  readonly uploads: Rounds
  readonly reads: Rounds
  body: number
}

async function measurements(server: BenchServer, library: string): Promise<Side> {
  return { library, path: await uploadPath(server, library), uploads: [], reads: [], body: 0 }
}

async function measure(context: Context, server: BenchServer, side: Side, bytes: number): Promise<void> {
  if (side.body === 0) await server.upload([longUpload(side.path, side.body++, context.size(32, 1) * MIB)])
  const body = side.body++
  side.uploads.push(await server.upload([longUpload(side.path, body, bytes)]))
  const file = `/file-${body}`
  await expectContent(server, side.library, file, new LongBodies().sha1(body, bytes))
  side.reads.push(await server.download([await downloadPath(server, side.library, file)]))
}

async function encryptedLibrary({ client }: BenchServer): Promise<string> {
  const made = await client.post('/api2/repos/', { form: { name: 'Encrypted', passwd: PASSWORD } })
  const id = String(made.body.repo_id)
  const reply = await client.post(`/api/v2.1/repos/${id}/set-password/`, { form: { password: PASSWORD } })
  if (reply.status !== 200) throw new Error(`the library cannot be opened: ${reply.status} ${reply.text}`)
  return id
}
