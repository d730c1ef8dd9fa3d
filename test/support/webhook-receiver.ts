import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One received webhook call. */
export interface ReceivedCall {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // Bodies have any shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** A local server that receives webhooks. */
export class WebhookReceiver implements AsyncDisposable {
  readonly calls: ReceivedCall[] = []
  /** Status of its responses; 200 by default. */
  answer: RequestListener = (_request, response) => void response.end('ok')
  readonly url: string
  readonly #server: Server
  #wake: (() => void)[] = []

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('request', (request, response) => {
      let text = ''
      request.setEncoding('utf8')
      request.on('data', (chunk: string) => {
        text += chunk
      })
      request.on('end', () => {
        const { url = '', headers } = request
        this.calls.push({ path: url, headers, text, body: JSON.parse(text) })
        for (const wake of this.#wake.splice(0)) wake()
        this.answer(request, response)
      })
    })
  }

  static async start(): Promise<WebhookReceiver> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new WebhookReceiver(server)
  }

  /** Resolves after this many calls. */
  async called(times: number): Promise<readonly ReceivedCall[]> {
    while (this.calls.length < times) await new Promise<void>((resolve) => this.#wake.push(resolve))
    return this.calls
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
