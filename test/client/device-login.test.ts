import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { carrelProcess, environment, program, start } from '../support/command.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { listening } from './support.ts'

const API = '/api/v2.1/device-authorization/'

/** Reads lines until one has a user code. */
async function codeIn(output: Readable): Promise<string> {
  const lines = createInterface({ input: output })
  for await (const line of lines) {
    const [, code] = /enter the code ([A-Z]{4}-[A-Z]{4})/.exec(line) ?? []
    if (code !== undefined) return code
  }
  throw new Error('no code was shown')
}

describe('carrel login by a code', () => {
  let server: TestServer
  let folder = ''
  before(async () => {
    server = await startServer()
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-device-'))
  })
  after(async () => {
    await rm(folder, { recursive: true })
    await server[Symbol.asyncDispose]()
  })

  const envOf = (home: string) => ({ CARREL_CLIENT_FOLDER: path.join(folder, home) })

  it('waits until the code is confirmed, works with the token, and revokes it', async () => {
    const user = await server.signUp()
    await user.createLibrary('Plans')
    const env = envOf('a')
    const child = start(['login', server.url, '--device', '--store', 'file', '--json'], { env })
    const ended = once(child, 'exit')
    const stdout = text(child.stdout)
    const user_code = await codeIn(child.stderr)
    const shown = (await user.post(`${API}check/`, { form: { user_code } })).body
    assert.deepEqual([shown.client_id, shown.device_name], ['carrel', os.hostname()])
    const form = { user_code, name: 'from a test', permission: 'rw' }
    assert.equal((await user.post(`${API}approve/`, { form })).status, 200)
    assert.deepEqual(await ended, [0, null])
    assert.deepEqual(JSON.parse(await stdout), { url: server.url, account: user.email, store: 'file' })
    const [token] = (await user.get('/api/v2.1/personal-tokens/')).body.personal_tokens
    assert.equal(token.name, 'from a test')
    assert.equal((await carrelProcess(['ls'], { env })).stdout, 'Plans:\n')
    const refused = await carrelProcess(['share', 'Plans:/', '--link'], { env })
    assert.equal(refused.code, 5)
    assert.match(
      refused.stderr,
      /^The token of this sign-in may not do that: .* carrel login URL --user E-MAIL\.\n$/,
    )
    assert.equal((await carrelProcess(['logout'], { env })).code, 0)
    assert.deepEqual((await user.get('/api/v2.1/personal-tokens/')).body.personal_tokens, [])
  })

  it('says that access was denied, and stores nothing', async () => {
    const user = await server.signUp()
    const env = envOf('b')
    const child = start(['login', server.url, '--device'], { env })
    const ended = once(child, 'exit')
    const user_code = await codeIn(child.stderr)
    assert.equal((await user.post(`${API}deny/`, { form: { user_code } })).status, 200)
    assert.deepEqual(await ended, [5, null])
    await assert.rejects(readFile(path.join(folder, 'b/client.json')), { code: 'ENOENT' })
  })

  it('is the default on a terminal, and ends with an interrupt', async () => {
    const command = [process.execPath, ...program, 'login', server.url]
    const env = { ...process.env, ...environment, ...envOf('c') }
    // A terminal of its own, which passes on the key for an interrupt.
    const child = spawn('script', ['-qefc', command.join(' '), '/dev/null'], { env })
    const ended = once(child, 'exit')
    await codeIn(child.stdout)
    child.stdin.write('\x03')
    assert.deepEqual(await ended, [130, null])
  })

  it('is refused without a terminal unless it is asked for', async () => {
    const refused = await carrelProcess(['login', server.url], { env: envOf('d') })
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /--user.*--token.*--device/)
  })

  it('is not tried at a server that does not offer it', async () => {
    const asked: string[] = []
    await using other = await listening(
      createServer((request, response) => {
        asked.push(`${request.method} ${request.url}`)
        response.setHeader('Content-Type', 'application/json')
        response.end(JSON.stringify({ version: '11.0.13', features: ['seafile-basic'] }))
      }),
    )
    const refused = await carrelProcess(['login', other.url, '--device'], { env: envOf('e') })
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /no sign-in by a code: use --user or --token/)
    assert.deepEqual(asked, ['GET /api2/server-info/'])
  })
})
