import type { EventEmitter } from 'node:events'
import type { Readable } from 'node:stream'
import type { Client } from 'pg'
import { type BackendMessage, DataRowMessage, RowDescriptionMessage } from 'pg-protocol/dist/messages.js'
import { Parser } from 'pg-protocol/dist/parser.js'

/** The code of a message with a row. */
const DATA_ROW = 0x44

/** What is overridden of the driver's parser and connection. Their types do not declare it. */
interface PacketParser {
  parse(chunk: Buffer, onMessage: (message: BackendMessage) => void): void
  handlePacket(offset: number, code: number, length: number, packet: Buffer): BackendMessage
}
interface ListeningConnection extends EventEmitter {
  attachListeners(stream: Readable): void
}

const DriverParser = Parser as unknown as new () => PacketParser

/**
 * Makes the connection of a client read rows in binary format. The driver can request them, but decodes every value as UTF-8, which destroys bytes that are no
 * text. To be called before it connects.
 */
export function readBinaryRows(client: Client): void {
  const connection = client.connection as unknown as ListeningConnection
  connection.attachListeners = (stream) => {
    const parser = new BinaryRowParser()
    stream.on('data', (chunk: Buffer) => {
      parser.parse(chunk, (message) => {
        connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message)
      })
    })
  }
}

/** The driver's parser, with the values of rows in binary format as bytes. */
class BinaryRowParser extends DriverParser {
  /** Whether the rows that follow are in binary format. A description of their columns comes before them. */
  #isBinary = false

  override handlePacket(offset: number, code: number, length: number, packet: Buffer): BackendMessage {
    if (this.#isBinary && code === DATA_ROW) return new DataRowMessage(length, valuesOf(packet, offset))
    const message = super.handlePacket(offset, code, length, packet)
    // All columns of a result have the format that was requested.
    if (message instanceof RowDescriptionMessage) this.#isBinary = message.fields[0]?.format === 'binary'
    return message
  }
}

/**
 * The values of a row: a 16-bit count, then for each value its 32-bit length and its bytes. A null has the length -1. They are views of the packet, which the
 * driver copies.
 */
function valuesOf(packet: Buffer, start: number): (Buffer | null)[] {
  const values: (Buffer | null)[] = []
  let offset = start + 2
  for (let rest = packet.readInt16BE(start); rest > 0; rest--) {
    const length = packet.readInt32BE(offset)
    offset += 4
    values.push(length === -1 ? null : packet.subarray(offset, offset + length))
    if (length > 0) offset += length
  }
  return values
}
