import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { pdfStream, writePdf } from '../support/documents/pdf-writer.ts'

/** A picture with a recognizable content. */
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

// An external link, one to the third page, and one that would run a script.
const LINKS = [
  '<< /Type /Annot /Subtype /Link /Rect [60 600 200 630] /A << /S /URI /URI (https://example.org/) >> >>',
  '<< /Type /Annot /Subtype /Link /Rect [60 550 200 580] /Dest [8 0 R /Fit] >>',
  '<< /Type /Annot /Subtype /Link /Rect [60 500 200 530] /A << /S /URI /URI (javascript:hacked\\(\\)) >> >>',
].join(' ')

/** A PDF with a line of text and some links on each page, in a standard font. */
export function makePages(lines: readonly string[]): Buffer {
  const kids = lines.map((_, index) => `${4 + index * 2} 0 R`)
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${lines.length} /Kids [${kids.join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...lines.flatMap((line, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R /Annots [${LINKS}] >>`,
      pdfStream(`BT /F1 28 Tf 60 740 Td (${line}) Tj ET 60 700 475 2 re f`),
    ]),
  ])
}

/** Types at the beginning of the editor. */
export async function write(page: Page, text: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: /^Editor: / })
  await editor.click()
  await page.keyboard.press('Control+Home')
  await page.keyboard.insertText(text)
}

/** Half a second of video in WebM, recorded by the browser itself. */
export async function recordFilm(page: Page): Promise<Buffer> {
  return Buffer.from(String(await page.evaluate(RECORD_FILM)), 'base64')
}

// A moving square, in base64.
const RECORD_FILM = `(async () => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 160, height: 120 })
  const drawing = canvas.getContext('2d')
  const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: 'video/webm' })
  const pieces = []
  recorder.ondataavailable = ({ data }) => pieces.push(data)
  const stopped = new Promise((resolve) => { recorder.onstop = resolve })
  recorder.start()
  for (let step = 0; step < 12; step += 1) {
    drawing.fillStyle = step % 2 ? 'teal' : 'orange'
    drawing.fillRect(step * 10, 20, 60, 60)
    await new Promise(requestAnimationFrame)
    await new Promise((resolve) => setTimeout(resolve, 40))
  }
  recorder.stop()
  await stopped
  const bytes = new Uint8Array(await new Blob(pieces).arrayBuffer())
  return btoa(String.fromCharCode(...bytes))
})()`
