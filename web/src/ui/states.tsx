import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTexts } from '../texts/index.ts'

/** Shown instead of an empty list. */
export function Empty(props: { icon: LucideIcon; title: ReactNode; hint?: ReactNode; children?: ReactNode }) {
  const { icon: Icon } = props
  return (
    <div className="state">
      <span className="state-sign">
        <Icon size={28} aria-hidden />
      </span>
      <h2>{props.title}</h2>
      {props.hint && <p>{props.hint}</p>}
      {props.children}
    </div>
  )
}

const OUTLINED_ROWS = 5

/** Outline of a list while it is loaded. */
export function Waiting() {
  const texts = useTexts('common')
  return (
    <div className="waiting" role="status">
      {Array.from({ length: OUTLINED_ROWS }, (_, row) => (
        <i key={row} aria-hidden />
      ))}
      <span className="visually-hidden">{texts.loading}</span>
    </div>
  )
}

/** Progress bar; `value` is from 0 to 1. */
export function Progress(props: { value: number; label: string }) {
  const percent = Math.round(Math.min(1, Math.max(0, props.value)) * 100)
  return (
    <div
      className="progress"
      role="progressbar"
      aria-label={props.label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <div className="progress-done" style={{ width: `${percent}%` }} />
    </div>
  )
}
