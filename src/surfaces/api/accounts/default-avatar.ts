import { crc32, deflateSync } from 'node:zlib'

const SIDE = 128
const BACKGROUND = 0
const FIGURE = 1
// RGB values of the two colours.
const palette = Buffer.from([0xd9, 0xde, 0xe4, 0xff, 0xff, 0xff])

let made: Buffer | undefined

/** A PNG of head and shoulders, created on first use. */
export function defaultAvatar(): Buffer {
  made ??= Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header()),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(pixels(), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
  return made
}

/** Width, height, 8 bits per pixel, palette colours. */
function header(): Buffer {
  const bytes = Buffer.alloc(13)
  bytes.writeUInt32BE(SIDE, 0)
  bytes.writeUInt32BE(SIDE, 4)
  bytes.set([8, 3, 0, 0, 0], 8)
  return bytes
}

/** Each row starts with the filter type "none". */
function pixels(): Buffer {
  const bytes = Buffer.alloc(SIDE * (SIDE + 1))
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      bytes[y * (SIDE + 1) + 1 + x] = isFigure(x + 0.5, y + 0.5) ? FIGURE : BACKGROUND
    }
  }
  return bytes
}

function isFigure(x: number, y: number): boolean {
  const inHead = Math.hypot(x - 64, y - 50) < 23
  const inShoulders = Math.hypot((x - 64) / 42, (y - 124) / 42) < 1
  return inHead || inShoulders
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  const checksum = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(typed))
  return Buffer.concat([length, typed, checksum])
}
