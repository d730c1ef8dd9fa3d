import sharp from 'sharp'
import { pdfStream, writePdf } from '../support/documents/pdf-writer.ts'

/** A picture with something to recognise in it. */
export function makePicture(colour: string, width = 1200, height = 800): Promise<Buffer> {
  const size = Math.round(Math.min(width, height) / 2)
  const patch = { create: { width: size, height: size, channels: 3, background: '#f4f1ea' } } as const
  return sharp({ create: { width, height, channels: 3, background: colour } })
    .composite([{ input: patch }])
    .jpeg()
    .toBuffer()
}

/** Some seconds of a tone, as a WAV file. */
export function makeTone(seconds: number): Buffer {
  const rate = 8000
  const samples = Buffer.alloc(rate * seconds)
  for (let index = 0; index < samples.length; index += 1) {
    samples[index] = 128 + Math.round(60 * Math.sin((2 * Math.PI * 440 * index) / rate))
  }
  const head = Buffer.alloc(44)
  head.write('RIFF')
  head.writeUInt32LE(36 + samples.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(samples.length, 40)
  return Buffer.concat([head, samples])
}

/** A PDF with a line of text on each page, in a font that every reader has to have. */
export function makePages(lines: readonly string[]): Buffer {
  const kids = lines.map((_, index) => `${4 + index * 2} 0 R`)
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${lines.length} /Kids [${kids.join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...lines.flatMap((line, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`,
      pdfStream(`BT /F1 28 Tf 60 740 Td (${line}) Tj ET 60 700 475 2 re f`),
    ]),
  ])
}
