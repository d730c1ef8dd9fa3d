import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { PipelineQueue } from './pipeline-queue.ts'
import type { ReceiveMemory } from './receive-memory.ts'

/** The header fields of a request. */
export interface RequestHeaders {
  /** First value of one field, by its name in lower case. Cheaper than `all`, which builds an object of all of them. */
  one(name: string): string | undefined
  /** Every field by its name in lower case. Repeated fields are combined as `node:http` does. */
  readonly all: IncomingHttpHeaders
}

/** Request line and header fields. */
export interface RequestHead {
  readonly method: string
  /** The request target as sent: a path with its query, an absolute URL, or `*`. */
  readonly url: string
  readonly headers: RequestHeaders
}

/**
 * The body of a request, read on demand (backpressure). A handler that stops reading just stops: the transport discards
 * the rest.
 */
export interface RequestBody {
  /** Of `Content-Length`; undefined for a chunked body. */
  readonly length: number | undefined
  /**
   * The next bytes, undefined at the end; not a promise if they are buffered. Throws `ClientDisconnected` if the client
   * left in the middle. With `borrow`, the bytes are valid only until the next call.
   */
  read(borrow?: boolean): Buffer | undefined | Promise<Buffer | undefined>
  /** The whole body, if all of it is buffered in one piece and none was read; else undefined. */
  takeWhole(): Buffer | undefined
  /** Makes a pending `read` throw `error`; false if none is pending. */
  fail(error: Error): boolean
}

/** Both ends of a connection. */
type SocketEnds = Pick<Socket, 'remoteAddress' | 'localAddress' | 'localPort'>

/** A request whose head has been parsed. */
export interface IncomingRequest {
  readonly head: RequestHead
  readonly body: RequestBody
  readonly socket: SocketEnds
  /** Whether the client speaks TLS with this process. */
  readonly isEncrypted: boolean
  /** Whether its connection carries several requests at the same time (HTTP/2). Default: no. */
  readonly isMultiplexed?: boolean
}

/** Names and values in turn. A list of values is sent as one field for each. */
export type FlatHeaders = readonly (string | number | readonly string[])[]

export const noHeaders: FlatHeaders = []

/** Sends the response to one request. */
export interface ResponseWriter {
  /** Status of the last `send` or `begin`. Sent once `isBegun`. */
  readonly status: number
  /** Whether the client may have received part of the response. */
  readonly isBegun: boolean
  /** Whether the operating system has taken the whole response. */
  readonly isSent: boolean
  /** Whether nothing more can be sent: the response is complete, or the client is gone. */
  readonly isClosed: boolean
  /** Whether the client left before it got the whole response. */
  readonly isAbandoned: boolean
  /** Calls `listener` once, when the response is sent or the client is gone. */
  onClose(listener: () => void): void
  /**
   * Sends a response whose body is in memory. Throws before the first byte if a header is invalid. `defaults` are further headers, in a list that is
   * never changed and the same for many responses.
   */
  send(status: number, headers: FlatHeaders, body: string | Buffer, defaults?: FlatHeaders): void
  /** Starts a streamed response. Its head goes out with the first write. Throws like `send`. */
  begin(status: number, headers: FlatHeaders, defaults?: FlatHeaders): void
  /** Calls `onTaken` once the bytes may be reused: the operating system has taken them, or the client is gone. */
  write(bytes: Buffer, onTaken: () => void): void
  /** Ends a streamed response. */
  end(): void
  /** Aborts the response, so that the client cannot take a part of it for the whole. */
  destroy(): void
}

/** What a transport hands its requests to. */
export interface RequestHandler {
  /** Resolves when the handler has ended, also if the client left before; undefined if it has already. Never rejects. */
  serve(request: IncomingRequest, response: ResponseWriter): Promise<void> | undefined
  /** Whether an Upgrade request is for a protocol spoken here. Otherwise its `Upgrade` field is ignored. */
  acceptsUpgrade(head: RequestHead): boolean
  /** Takes over the connection of an accepted Upgrade request; `rest` was received behind its head. */
  upgrade(head: RequestHead, socket: Socket, rest: Buffer): void
}

/** Timeouts and minimum rates of a connection; times in milliseconds. */
export interface ConnectionTimeouts {
  /** Between two requests. */
  readonly keepAliveMs: number
  /** Without a byte moving, while the server waits for the client. */
  readonly idleMs: number
  /** For a whole request head. */
  readonly headersMs: number
  /** Minimum bytes per second of a body that is being read, and of a response that is being sent. */
  readonly leastRate: number
  /** The rate is an average over this time. */
  readonly rateWindowMs: number
  /** How often slow clients and changed certificate files are looked for, at least. */
  readonly checkMs: number
  /** How long the rest of a refused body is discarded before the connection is closed. */
  readonly lingerMs: number
}

/** How many connections are accepted. */
export interface ConnectionLimits {
  readonly connections: number
  /** Of one IPv4 address, or one IPv6 /64. */
  readonly connectionsPerAddress: number
  /** Refused connections that get a response at the same time; further ones are closed without one. */
  readonly refusals: number
  /** Addresses exempt from the limit per address, such as proxies. */
  isExempt(address: string): boolean
}

/** Everything a transport needs. */
export interface TransportOptions extends ConnectionTimeouts {
  readonly handler: RequestHandler
  readonly limits: ConnectionLimits
  /** Budget of bytes received and not read yet. */
  readonly memory: ReceiveMemory
  readonly pipeline: PipelineQueue
  /** Whether the server is shutting down, so that connections end with their current response. */
  isClosing(): boolean
  /** Receives unexpected errors. They cost their connection, and no other. */
  onError(error: unknown): void
}

/** Where to listen. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** Accepts the connections for this process. Default: the process listens itself. */
  readonly source?: ConnectionSource | undefined
}

/** Another process, or another part of this one, that listens and passes connections on. */
export interface ConnectionSource {
  /** Calls `accept` with each connection from then on. Rejects with the error of the system. */
  listen(
    where: { readonly host: string; readonly port: number },
    accept: (socket: Socket) => void,
  ): Promise<Pick<AddressInfo, 'address' | 'port'>>
  /** The transport accepts no more. Without this, whoever listens knows it already. */
  close?(): void
}

/** Accepts connections and speaks HTTP on them. The two implementations are `fast/` and `node/`. */
export interface Transport {
  readonly scheme: 'http' | 'https'
  /** Rejects with the error of the system. */
  listen(options: ListenOptions): Promise<Pick<AddressInfo, 'address' | 'port'>>
  /** Open connections, upgraded ones included. */
  readonly connectionCount: number
  /** Stops accepting; resolves when the last connection is closed. */
  close(): Promise<void>
  /** Closes every connection that has no request in flight. */
  closeIdle(): void
  closeAll(): void
}

/** Largest request line with all header fields, in bytes. */
export const MAX_HEAD_BYTES = 16 * 1024
/** Most header fields of one request. */
export const MAX_HEADER_FIELDS = 256
/** A connection is kept for further requests only if at most this much of a refused body is still to come. */
export const DRAIN_LIMIT = 8 * 1024 * 1024
/** Seconds after which a client may try again that was refused for lack of memory or connections. */
export const RETRY_SECONDS = 10
/** Idle connections live one second longer than the advertised Keep-Alive timeout, so that closing does not race the next request. */
export const KEEP_ALIVE_GRACE_MS = 1000
