import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { carrel, environment, program } from '../support/command.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { listening } from './support.ts'

interface Result {
  readonly id: string
  readonly result: string
  readonly expected?: string
  readonly got?: string
  readonly reason?: string
}

interface Report {
  readonly ok: number
  readonly different: number
  readonly notTried: number
  readonly left: string[]
  readonly statements: Result[]
}

describe('carrel conformance', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ env: { CARREL_LOG: 'silent', CARREL_MAX_UPLOAD_MB: '5' } })
  })
  after(() => server[Symbol.asyncDispose]())

  const run = (client: Client, url: string, more: readonly string[] = [], env: Record<string, string> = {}) =>
    carrel(['conformance', url, ...more], { env: { CARREL_CLIENT_TOKEN: client.token ?? '', ...env } })

  const report = async (...args: Parameters<typeof run>): Promise<[number | null, Report]> => {
    const [client, url, more = [], env] = args
    const { code, stdout, stderr } = await run(client, url, [...more, '--json'], env)
    assert.ok(stdout.startsWith('{'), stdout + stderr)
    return [code, JSON.parse(stdout)]
  }

  const idsWith = ({ statements }: Report, result: string) =>
    statements.filter((one) => one.result === result).map(({ id }) => id)

  it('finds no difference as an administrator, and leaves nothing behind', async () => {
    const admin = await server.admin()
    const accounts = async () => (await admin.get('/api2/accounts/')).body.length
    const before = [await accounts(), (await admin.get('/api2/repos/')).body.length]
    const [code, found] = await report(admin, server.url, ['--max-upload', '5000000'])
    const different = found.statements.filter(({ result }) => result === 'different')
    assert.deepEqual([different, code, found.left], [[], 0, []])
    const reasons = new Set(found.statements.flatMap(({ reason }) => reason ?? []))
    assert.deepEqual([...reasons], ['needs control over the process of the server'])
    assert.ok(found.ok > 350, `${found.ok} are ok`)
    assert.deepEqual([await accounts(), (await admin.get('/api2/repos/')).body.length], before)
    assert.deepEqual((await admin.get('/api/v2.1/groups/')).body, [])
  })

  it('says what it cannot try with one plain account, and tries it with a second one', async () => {
    const [user, other] = [await server.signUp(), await server.signUp()]
    const only = ['--only', '4.1/list']
    const [code, alone] = await report(user, server.url, only)
    assert.equal(code, 0)
    assert.deepEqual(
      alone.statements.flatMap(({ id, reason }) => (reason === undefined ? [] : [[id, reason]])),
      [
        ['4.1/list', 'needs a second account'],
        ['4.1/list-shared', 'needs a second account'],
        ['4.1/list-group', 'needs a second account'],
        ['4.1/list-org', 'needs an administrator'],
      ],
    )
    const [, both] = await report(user, server.url, only, { CARREL_CLIENT_OTHER_TOKEN: other.token ?? '' })
    assert.deepEqual(idsWith(both, 'not tried'), ['4.1/list-org'])
    assert.deepEqual(idsWith(both, 'different'), [])
    for (const client of [user, other]) assert.deepEqual((await client.get('/api2/repos/')).body, [])
  })

  it('keeps the libraries of the account, its default library too', async () => {
    const user = await server.signUp()
    const { repo_id } = (await user.post('/api2/default-repo/')).body
    const [code] = await report(user, server.url, ['--only', '2.17/default'])
    assert.equal(code, 0)
    assert.equal((await user.get(`/api2/repos/${repo_id}/`)).status, 200)
  })

  it('names the statement of each field that a server sends otherwise', async () => {
    const user = await server.signUp()
    await using proxy = await listening(
      createServer((incoming, response) =>
        forward(server.url, incoming, response, (text) =>
          text.replaceAll('"encrypted":false', '"encrypted":"\\u001bno"'),
        ),
      ),
    )
    const [code, found] = await report(user, proxy.url, ['--only', '2.'])
    assert.equal(code, 1)
    assert.deepEqual(idsWith(found, 'different'), [
      '2.1/owned-library-in-the-list.encrypted',
      '2.2/library-detail.encrypted',
      '2.3/library-created-in-v2.1.encrypted',
    ])
    const [first] = found.statements.filter(({ result }) => result === 'different')
    assert.deepEqual([first?.expected, first?.got], ['a boolean', '"\\u001bno"'])
    const { code: plain, stdout } = await run(user, proxy.url, ['--only', '2.2/library-detail.encrypted'])
    assert.equal(plain, 1)
    assert.match(stdout, /^different {2}2\.2\/library-detail\.encrypted .*\n +expected: a boolean\n +got: +"/)
    assert.match(stdout, /1 statements: 0 ok, 1 different, 0 not tried\.\n$/)
  })

  it('signs in with a password and signs out again', async () => {
    const user = await server.signUp({ password: 'a secret of this test' })
    const tokens = async () => (await server.running.services.db.all('select key from api_token')).length
    const before = await tokens()
    const args = ['conformance', server.url, '--user', user.email, '--only', '4.1/rename']
    const wrong = await carrel(args, { input: 'wrong' })
    assert.deepEqual([wrong.code, wrong.stdout], [4, ''], wrong.stderr)
    const { code, stdout } = await carrel(args, { input: 'a secret of this test\n' })
    assert.deepEqual([code, stdout.startsWith('ok         4.1/rename  ')], [0, true], stdout)
    assert.equal(await tokens(), before)
  })

  it('removes what it created when it is interrupted', async () => {
    const user = await server.signUp()
    const child = spawn(process.execPath, [...program, 'conformance', server.url], {
      env: { ...process.env, ...environment, CARREL_CLIENT_TOKEN: user.token ?? '' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const exited = once(child, 'exit')
    await once(child.stdout, 'data')
    assert.notDeepEqual((await user.get('/api2/repos/')).body, [])
    child.kill('SIGINT')
    child.stdout.resume()
    assert.deepEqual(await exited, [130, null])
    assert.deepEqual((await user.get('/api2/repos/')).body, [])
  })

  it('refuses wrong usage', async () => {
    const user = await server.signUp()
    for (const more of [
      ['--only', '99/'],
      ['--max-upload', 'much'],
    ]) {
      assert.equal((await run(user, server.url, more)).code, 2)
    }
  })
})

/** Sends a request on, and changes the text of JSON responses. */
function forward(
  to: string,
  incoming: IncomingMessage,
  response: ServerResponse,
  change: (text: string) => string,
): void {
  const { method = 'GET', headers, url = '/' } = incoming
  const { 'accept-encoding': _encoding, ...rest } = headers
  const outgoing = request(to + url, { method, headers: rest }, (reply) => {
    const pieces: Buffer[] = []
    reply.on('data', (piece: Buffer) => pieces.push(piece))
    reply.on('end', () => {
      const text = change(Buffer.concat(pieces).toString())
      const { 'content-length': _length, 'transfer-encoding': _transfer, ...kept } = reply.headers
      response.writeHead(reply.statusCode ?? 502, kept)
      response.end(text)
    })
  })
  outgoing.on('error', () => response.destroy())
  incoming.pipe(outgoing)
}
