import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import type { Client } from '../support/client.ts'
import { carrel, type Outcome } from '../support/command.ts'

/** Runs client commands of one account, with a folder of its own for local files. */
export interface ClientUser extends AsyncDisposable {
  readonly folder: string
  /** Runs a command and asserts its exit code. */
  run(args: readonly string[], code?: number, input?: string): Promise<Outcome>
  /** Runs a command with --json and parses its output. */
  // oxlint-disable-next-line typescript/no-explicit-any
  json(args: readonly string[], code?: number, input?: string): Promise<any>
}

/** `token` is that of the client by default. */
export async function clientUser(client: Client, token = client.token): Promise<ClientUser> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-client-'))
  const env = {
    CARREL_CLIENT_URL: client.url,
    CARREL_CLIENT_TOKEN: token ?? '',
    CARREL_CLIENT_FOLDER: path.join(folder, '.config'),
  }
  const run = async (args: readonly string[], code = 0, input?: string) => {
    const outcome = await carrel(args, { env, ...(input !== undefined && { input }) })
    assert.equal(outcome.code, code, `carrel ${args.join(' ')}\n${outcome.stdout}${outcome.stderr}`)
    return outcome
  }
  return {
    folder,
    run,
    json: async (args, code, input) => JSON.parse((await run([...args, '--json'], code, input)).stdout),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Starts a server of a test on a free port. Disposing closes its connections, too. */
export async function listening(server: Server): Promise<AsyncDisposable & { readonly url: string }> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** What a proxy does with one request: pass it on, refuse it, drop it, or drop its response. */
export type Fate = 'pass' | 'busy' | 'drop' | 'drop-response' | 'cut-response'

/** A proxy that treats requests as `fate` says. Links of the server lead back to the proxy. */
export async function startProxy(target: string, fate: (method: string, url: string) => Fate) {
  const server = createServer((incoming, outgoing) => {
    const what = fate(incoming.method ?? '', incoming.url ?? '')
    if (what === 'busy') {
      incoming.resume()
      outgoing.writeHead(503, { 'Retry-After': '0' }).end('{"error_msg": "busy"}')
      return
    }
    if (what === 'drop') return void incoming.socket.destroy()
    const { method, headers } = incoming
    const sent = request(target + incoming.url, { method, headers }, (response) => {
      if (what === 'drop-response') {
        response.resume().on('end', () => incoming.socket.destroy())
        return
      }
      outgoing.writeHead(response.statusCode ?? 0, response.headers)
      if (what === 'pass') return void response.pipe(outgoing)
      let length = 0
      response.on('data', (bytes: Buffer) => {
        length += bytes.length
        if (length > 1_000_000) return void incoming.socket.destroy()
        outgoing.write(bytes)
      })
    })
    sent.on('error', () => incoming.socket.destroy())
    incoming.pipe(sent)
  })
  return listening(server)
}
