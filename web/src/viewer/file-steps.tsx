import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useTexts } from '../texts/index.ts'
import { IconButton } from '../ui/index.ts'
import type { SiblingNavigation } from './sibling-files.ts'

/** Buttons to the previous and the next file. */
export function FileSteps({ stepping }: { stepping: SiblingNavigation }) {
  const texts = useTexts('viewer')
  const { position, count, toPrevious, toNext } = stepping
  return (
    <span className="viewer-steps">
      <IconButton
        label={texts.previous}
        icon={ChevronLeft}
        disabled={toPrevious === undefined}
        onClick={toPrevious}
      />
      <span className="viewer-position muted">{texts.position(position + 1, count)}</span>
      <IconButton label={texts.next} icon={ChevronRight} disabled={toNext === undefined} onClick={toNext} />
    </span>
  )
}
