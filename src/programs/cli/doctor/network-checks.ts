import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Config } from '../../../base/config/index.ts'
import { MailRefused, Smtp } from '../../../people/mail/index.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const TIMEOUT_MS = 3000
const MAIL_TIMEOUT_MS = 30_000

/** Checks that the port is free, or that Carrel already listens on it. */
export async function checkPort(config: Config): Promise<Finding> {
  const { host, port } = config
  const place = `port ${port} on ${host}`
  if (port === 0) return ok('port', 'a free one is picked at each start')
  const code = await tryToListen(host, port)
  if (code === undefined) return ok('port', `${place} is free`)
  if (code !== 'EADDRINUSE') {
    return fail('port', `${place} cannot be opened (${code})`, 'choose another host or port')
  }
  if (await answersLocally(config)) return ok('port', `Carrel answers at ${place}`)
  const remedy = 'stop what uses it, or choose another with --port'
  return fail('port', `${place} is used by another program`, remedy)
}

/** Checks that the public URL, if set, is reachable. Only a warning while no server is running. */
export async function checkPublicUrl(config: Config): Promise<Finding | readonly Finding[]> {
  const { publicUrl } = config
  if (publicUrl === undefined) return []
  if (await answersPing(publicUrl)) return ok('public URL', `Carrel answers at ${publicUrl}`)
  const message = `${publicUrl}/api2/ping/ does not answer`
  if (config.port !== 0 && (await answersLocally(config))) {
    return fail('public URL', message, 'see that the proxy passes requests on, or correct CARREL_PUBLIC_URL')
  }
  return warn('public URL', message, 'start carrel serve and look again')
}

function answersLocally(config: Config): Promise<boolean> {
  const url = localUrl(config)
  return url.startsWith('https:') ? answersEncryptedPing(url) : answersPing(url)
}

function localUrl({ host, port, http }: Config): string {
  const isEncrypted = http.transport.kind === 'node' && http.transport.certificate !== undefined
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `${isEncrypted ? 'https' : 'http'}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

async function answersPing(baseUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/api2/ping/`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { Connection: 'close' },
    })
    return response.ok && (await response.json()) === 'pong'
  } catch {
    return false
  }
}

/** The certificate is for the public name, so it is not checked against a local address. */
async function answersEncryptedPing(baseUrl: string): Promise<boolean> {
  try {
    const sent = request(`${baseUrl}/api2/ping/`, {
      rejectUnauthorized: false,
      agent: false,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return response.statusCode === 200 && (await json(response)) === 'pong'
  } catch {
    return false
  }
}

/** The error code; undefined if listening works. */
async function tryToListen(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  try {
    server.listen({ host, port })
    await once(server, 'listening')
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  } finally {
    server.close()
  }
}

/** Checks that the mail server, if there is one, can be reached and accepts the sign-in. Sends nothing. */
export async function checkMail({ mail }: Config): Promise<Finding | readonly Finding[]> {
  if (mail === undefined) return []
  const { host, port } = mail.server
  try {
    await new Smtp(mail).verify(AbortSignal.timeout(MAIL_TIMEOUT_MS))
    return ok('mail', `${host}:${port} accepts mail`)
  } catch (error) {
    const message = error instanceof MailRefused ? error.message : `${host}:${port} does not answer`
    return fail('mail', message, 'correct CARREL_MAIL_URL')
  }
}
