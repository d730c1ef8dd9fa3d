import { Copy, Replace, SkipForward } from 'lucide-react'
import { nameOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Dialog } from '../ui/index.ts'
import type { Question } from './plan-uploads.ts'

const MAX_NAMED = 100

/** Asks once about all existing files. Closing the dialog cancels the upload. */
export function ConflictDialog(props: { question: Question }) {
  const { target, taken, answer } = props.question
  const texts = useTexts('uploads')
  const formats = useFormats()
  const choices = [
    { value: 'keep-both', icon: Copy, label: texts.keepBoth, hint: texts.keepBothHint(taken.length) },
    { value: 'replace', icon: Replace, label: texts.replace, hint: texts.replaceHint },
    { value: 'skip', icon: SkipForward, label: texts.skip, hint: texts.skipHint },
  ] as const
  const more = taken.length - MAX_NAMED
  return (
    <Dialog title={texts.taken(taken.length, formats.number(taken.length))} onClose={() => answer(undefined)}>
      <p className="muted">
        {texts.takenIn} <bdi>{target.path === '/' ? target.libraryName : nameOf(target.path)}</bdi>
      </p>
      {/* A long list must be scrollable by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <ul className="conflict-names" tabIndex={0} aria-label={texts.takenNames}>
        {taken.slice(0, MAX_NAMED).map(({ folder, name }) => (
          <li key={`${folder}/${name}`}>
            <bdi>{folder === '' ? name : `${folder}/${name}`}</bdi>
          </li>
        ))}
        {more > 0 && <li>{texts.andMore(more, formats.number(more))}</li>}
      </ul>
      <div className="conflict-choices">
        {choices.map(({ value, icon: Icon, label, hint }) => (
          <button key={value} type="button" className="conflict-choice" onClick={() => answer(value)}>
            <Icon size={20} aria-hidden />
            <span>
              <strong>{label}</strong>
              <span className="muted">{hint}</span>
            </span>
          </button>
        ))}
      </div>
    </Dialog>
  )
}
