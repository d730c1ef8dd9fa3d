import { crc32, deflateSync } from 'node:zlib'

function pngChunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(typed))
  return Buffer.concat([length, typed, checksum])
}

/** A PNG that claims `width` × `height` pixels of one bit, with `rows` rows of data and any further chunks. */
export function claimedPng(width: number, height: number, rows = 0, extra: readonly Buffer[] = []): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([1, 0, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    ...extra,
    pngChunk('IDAT', deflateSync(Buffer.alloc((1 + Math.ceil(width / 8)) * rows), { level: 9 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

/** A compressed text chunk that unpacks to `megabytes`. */
export function textBomb(megabytes: number): Buffer {
  const packed = deflateSync(Buffer.alloc(megabytes * 2 ** 20), { level: 9 })
  return pngChunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0', 'latin1'), packed]))
}

/** An SVG that refers to files and addresses of the server. */
export const referringSvg = Buffer.from(`<?xml version="1.0"?>
<!DOCTYPE svg [<!ENTITY secret SYSTEM "file:///etc/passwd">]>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="99" height="99">
<image xlink:href="file:///etc/passwd" width="99" height="99"/><image href="http://127.0.0.1:9/"/><text>&secret;</text></svg>`)

/** A GIF of `frames` whole frames, `side` pixels wide and high, each of a few bytes. */
export function animatedGif(frames: number, side: number): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt16LE(side, 0)
  size.writeUInt16LE(side, 2)
  // Code size 2, then clear and end: the rest of the frame is left as it was.
  const frame = Buffer.concat([
    Buffer.from([0x21, 0xf9, 4, 0, 1, 0, 0, 0, 0x2c, 0, 0, 0, 0]),
    size,
    Buffer.from([0, 2, 2, 0x4c, 0x01, 0]),
  ])
  return Buffer.concat([
    Buffer.from('GIF89a', 'latin1'),
    size,
    Buffer.from([0x80, 0, 0, 0xff, 0, 0, 0, 0, 0xff]),
    ...Array.from({ length: frames }, () => frame),
    Buffer.from([0x3b]),
  ])
}
