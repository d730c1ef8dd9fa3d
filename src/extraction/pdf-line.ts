/** Text a PDF draws in one go, as PDF.js tells it: in itself it reads in the right direction. */
export interface TextPiece {
  readonly str?: string
  readonly dir?: string
  readonly hasEOL?: boolean
  /** The fifth number is where it stands across the page. */
  readonly transform?: readonly number[]
}

/**
 * The text of one line. Pieces that read from right to left are often drawn from left to right, down to single letters;
 * such a run of them is turned around.
 */
export function lineText(pieces: readonly TextPiece[]): string {
  const ordered: TextPiece[] = []
  let run: TextPiece[] = []
  // Blanks and points belong to a run if more of it follows.
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
  const places = run.filter(({ str }) => str?.trim() !== '').map(({ transform }) => transform?.[4] ?? 0)
  const isDrawnFromLeft = (places.at(-1) ?? 0) > (places[0] ?? 0)
  return isDrawnFromLeft ? run.toReversed() : run
}
