/** A text item of PDF.js. Its own characters are in reading order. */
export interface TextPiece {
  readonly str?: string
  readonly dir?: string
  readonly hasEOL?: boolean
  /** The fifth number is the horizontal position. */
  readonly transform?: readonly number[]
}

/**
 * The text of one line. Right-to-left pieces, down to single letters, are often drawn from left to right. A run of such pieces is
 * reversed.
 */
export function lineText(pieces: readonly TextPiece[]): string {
  const ordered: TextPiece[] = []
  let run: TextPiece[] = []
  // Whitespace and punctuation belong to the run only if more of it follows.
  let undecided: TextPiece[] = []
  const endRun = () => {
    ordered.push(...inReadingOrder(run), ...undecided)
    run = []
    undecided = []
  }
  for (const piece of pieces) {
    if (piece.dir === 'rtl') {
      run.push(...undecided, piece)
      undecided = []
    } else if (run.length > 0 && !/[\p{L}\p{N}]/u.test(piece.str ?? '')) {
      undecided.push(piece)
    } else {
      endRun()
      ordered.push(piece)
    }
  }
  endRun()
  return ordered.map(({ str = '' }) => str).join('')
}

function inReadingOrder(run: readonly TextPiece[]): readonly TextPiece[] {
  const positions = run.filter(({ str }) => str?.trim() !== '').map(({ transform }) => transform?.[4] ?? 0)
  const isDrawnFromLeft = (positions.at(-1) ?? 0) > (positions[0] ?? 0)
  return isDrawnFromLeft ? run.toReversed() : run
}
