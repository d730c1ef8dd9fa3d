import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { WebSocket } from 'ws'
import type { SyncClient } from './sync-client.ts'

export interface NotificationMessage {
  readonly type: string
  readonly content: Record<string, unknown>
}

/** A subscriber of the WebSocket at `/notification`, like a sync client. All messages are in `heard`. */
export class NotificationClient implements Disposable {
  readonly socket: WebSocket
  readonly heard: NotificationMessage[] = []
  readonly #arrived = new EventEmitter()

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data) => {
      this.heard.push(JSON.parse((data as Buffer).toString('utf8')))
      this.#arrived.emit('message')
    })
  }

  static async open(url: string): Promise<NotificationClient> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/notification`, 'notification.seafile.com')
    const client = new NotificationClient(socket)
    await once(socket, 'open')
    return client
  }

  say(type: string, ...repos: object[]): void {
    this.socket.send(JSON.stringify({ type, content: { repos } }))
  }

  /** Resolves to the first matching message, past or future. */
  async until(fits: (message: NotificationMessage) => boolean): Promise<NotificationMessage> {
    for (;;) {
      const found = this.heard.find(fits)
      if (found !== undefined) return found
      await once(this.#arrived, 'message')
    }
  }

  [Symbol.dispose](): void {
    this.socket.terminate()
  }
}

/** The notification token of a synced library. */
export async function jwtOf(sync: SyncClient): Promise<string> {
  const reply = await sync.call('GET', 'jwt-token')
  assert.equal(reply.status, 200, reply.text)
  return reply.body.jwt_token
}
