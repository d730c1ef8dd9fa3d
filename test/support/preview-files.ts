import { zipSync } from 'fflate'
import sharp from 'sharp'

/** A JPEG of one color. */
export function colored(background: string, width = 320, height = 240): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background } })
    .jpeg()
    .toBuffer()
}

/** An SVG of one color, with further elements. */
export function svgOf(color: string, inside = ''): Buffer {
  const open = '<svg xmlns="http://www.w3.org/2000/svg" width="32" height="24">'
  return Buffer.from(`${open}<rect width="32" height="24" fill="${color}"/>${inside}</svg>`)
}

/** A PDF with one page that the operators of `content` draw. */
export function pdfOf(content: string, { box = '0 0 200 300', catalog = '', page = '' } = {}): Buffer {
  return Buffer.from(`%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R${catalog}>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[${box}]/Contents 4 0 R${page}>>endobj
4 0 obj<</Length ${content.length}>>stream
${content}
endstream endobj
trailer<</Root 1 0 R>>`)
}

/** A PDF with one page of one color, as red, green and blue from 0 to 1. */
export const coloredPdf = (color: string) => pdfOf(`${color} rg 0 0 200 300 re f`)

/** A short MP3 with a cover. The tag claims `claimed` bytes for it. */
export function mp3With(cover: Uint8Array, type = 'image/jpeg', claimed?: number): Buffer {
  const picture = Buffer.concat([Buffer.from(`\0${type}\0\x03\0`, 'latin1'), cover])
  const frame = Buffer.alloc(10)
  frame.write('APIC', 0, 'latin1')
  frame.writeUInt32BE(claimed ?? picture.length, 4)
  const size = picture.length + 10
  const header = Buffer.from([
    0x49,
    0x44,
    0x33,
    3,
    0,
    0,
    ...[21, 14, 7, 0].map((bits) => (size >> bits) & 127),
  ])
  // Silence: MPEG 1, layer 3, 128 kbit/s, 44.1 kHz.
  const silence = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0]), Buffer.alloc(413)])
  return Buffer.concat([header, frame, picture, silence, silence, silence])
}

/** A zip package with a preview at `path`. */
export function packageWith(path: string, preview: Uint8Array): Buffer {
  return Buffer.from(zipSync({ '[Content_Types].xml': Buffer.from('<Types/>'), [path]: preview }))
}
