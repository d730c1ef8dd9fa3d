import './diff.css'
import { useMemo, useState } from 'react'
import { useTexts } from '../texts/index.ts'
import { type DiffLine, diffLines } from './diff.ts'
import { type DiffRun, foldUnchanged } from './fold-unchanged.ts'

const LINES_SHOWN = 2000

/** Line diff of two texts. Unchanged lines far from any difference are folded. */
export function DiffView(props: {
  before: string
  after: string
  labels: { before: string; after: string }
}) {
  const { before, after, labels } = props
  const texts = useTexts('history')
  const lines = useMemo(() => diffLines(before, after), [before, after])
  const runs = useMemo(() => foldUnchanged(lines), [lines])
  const removed = lines.filter(({ kind }) => kind === 'removed').length
  const added = lines.filter(({ kind }) => kind === 'added').length
  if (removed + added === 0) return <p className="muted">{texts.noDifference}</p>
  return (
    <div className="diff">
      <p className="diff-legend">
        <span className="diff-removed">− {labels.before}</span>
        <span className="diff-added">+ {labels.after}</span>
        <span className="muted">{texts.differences(removed, added)}</span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is longer than the window is scrolled by keyboard. */}
      <div className="diff-lines" role="region" aria-label={texts.comparison} tabIndex={0}>
        <table>
          <tbody>
            {runs.map((run, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: runs have no names.
              <RunRows key={index} run={run} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

function RunRows({ run }: { run: DiffRun }) {
  const texts = useTexts('history')
  const [isOpen, setOpen] = useState(!run.isHidden)
  if (!isOpen) {
    return (
      <tr>
        <td colSpan={4} className="diff-fold">
          <button type="button" onClick={() => setOpen(true)}>
            {texts.sameLines(run.lines.length)}
          </button>
        </td>
      </tr>
    )
  }
  const shown = run.lines.slice(0, LINES_SHOWN)
  return (
    <>
      {shown.map((line) => (
        <LineRow key={`${line.before ?? ''} ${line.after ?? ''}`} line={line} />
      ))}
      {shown.length < run.lines.length && (
        <tr>
          <td colSpan={4} className="diff-fold">
            {texts.linesLeftOut(run.lines.length - shown.length)}
          </td>
        </tr>
      )}
    </>
  )
}

function LineRow({ line }: { line: DiffLine }) {
  const texts = useTexts('history')
  const sign = { same: '', removed: '−', added: '+' }[line.kind]
  const spoken = { same: '', removed: texts.lineRemoved, added: texts.lineAdded }[line.kind]
  return (
    <tr className={`diff-${line.kind}`}>
      <td className="diff-number">{line.before}</td>
      <td className="diff-number">{line.after}</td>
      <td className="diff-sign">
        <span aria-hidden>{sign}</span>
        {spoken && <span className="visually-hidden">{spoken}</span>}
      </td>
      <td className="diff-text">{line.text}</td>
    </tr>
  )
}
