import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress, zstdDecompressSync } from 'node:zlib'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Dialect } from '../../platform/database/index.ts'
import { markedAsName, renderedTokens } from './expression.ts'
import { fold } from './fold.ts'
import { gramsOf, tokensIn } from './tokens.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Maximum length of an indexed text, in characters. */
const MAX_CHARACTERS = 2 ** 20

const PIECE = 16_384
// Fewer bytes are decompressed faster on this thread than on another one.
const QUICKLY_UNPACKED = 16_384

// A tsvector holds 1 MB, positions up to 16,383, and 256 positions per word.
const TOKENS_PER_PART = 4000
// Overlap of adjacent parts, so that no phrase is lost at a cut.
const OVERLAP = 16

/** The text as it is stored: NFC, single spaces, at most MAX_CHARACTERS. */
export async function normalizeText(text: string): Promise<string> {
  const slicer = new TimeSlicer()
  let tidy = ''
  for (const piece of piecesOf(text.slice(0, MAX_CHARACTERS))) {
    tidy += piece
      .toWellFormed()
      .normalize('NFC')
      .replace(/[\s\0]+/g, ' ')
    if (slicer.isDue) await slicer.rest()
  }
  return tidy.trim()
}

/** The tokens of a normalized text and of the file name, in the format of the columns. */
export async function bodyParts(text: string, name: string, dialect: Dialect): Promise<string[]> {
  const tokens = await pacedTokens(text)
  const nameTokens = gramsOf(fold(name)).map(markedAsName)
  if (dialect === 'sqlite') return [renderedTokens([...tokens, ...nameTokens], dialect)]
  const parts: string[] = []
  const slicer = new TimeSlicer()
  for (let start = 0; start === 0 || start < tokens.length; start += TOKENS_PER_PART) {
    const some = tokens.slice(start, start + TOKENS_PER_PART + OVERLAP)
    parts.push(renderedTokens(start === 0 ? [...some, ...nameTokens] : some, dialect))
    if (slicer.isDue) await slicer.rest()
  }
  return parts
}

export async function packText(text: string): Promise<Uint8Array> {
  return compress(Buffer.from(text))
}

export async function unpackText(body: Uint8Array): Promise<string> {
  if (body.length <= QUICKLY_UNPACKED) return zstdDecompressSync(body).toString()
  return (await decompress(body)).toString()
}

async function pacedTokens(text: string): Promise<string[]> {
  const slicer = new TimeSlicer()
  let folded = ''
  for (const piece of piecesOf(text)) {
    folded += fold(piece)
    if (slicer.isDue) await slicer.rest()
  }
  const tokens: string[] = []
  for (const token of tokensIn(folded)) {
    tokens.push(token)
    if (tokens.length % 512 === 0 && slicer.isDue) await slicer.rest()
  }
  return tokens
}

/** Parts that end between words if possible, and never within a character. */
function* piecesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE, text.length)
    if (end < text.length) {
      const space = text.lastIndexOf(' ', end)
      if (space > start) end = space
      else if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end--
    }
    yield text.slice(start, end)
    start = end
  }
}
