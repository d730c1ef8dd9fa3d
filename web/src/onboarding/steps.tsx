import './onboarding.css'
import { ChevronDown, Circle, CircleCheck, CircleMinus, type LucideIcon, X } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { useTexts } from '../texts/index.ts'
import { CopyButton, IconButton, Progress } from '../ui/index.ts'

interface Step {
  readonly key: string
  readonly title: string
  /** The state of the step, in one line. */
  readonly state?: ReactNode
  readonly done: boolean
  readonly skipped?: boolean
  /** Shown before the title instead of an empty circle. */
  readonly icon?: LucideIcon
  readonly body: ReactNode
}

/** A card of steps. The first open one is unfolded; opening another folds it. */
export function Steps(props: {
  title: string
  lead?: string | undefined
  /** Shows how many are done. */
  counted?: boolean
  steps: readonly Step[]
  closeLabel: string
  onClose?: (() => void) | undefined
}) {
  const { steps } = props
  const texts = useTexts('onboarding')
  const id = useId()
  const done = steps.filter((step) => step.done || step.skipped).length
  const first = steps.findIndex((step) => !step.done && !step.skipped)
  return (
    <section className="card onboarding" aria-labelledby={id}>
      <div className="onboarding-head">
        <div>
          <h2 id={id}>{props.title}</h2>
          {props.lead !== undefined && <p className="muted">{props.lead}</p>}
        </div>
        {props.onClose && <IconButton label={props.closeLabel} icon={X} onClick={props.onClose} />}
      </div>
      {props.counted && (
        <div className="onboarding-progress">
          <Progress value={done / steps.length} label={texts.progress(done, steps.length)} />
          <span className="muted">{texts.progress(done, steps.length)}</span>
        </div>
      )}
      <div className="onboarding-steps">
        {steps.map((step, index) => (
          <details key={step.key} name={id} open={index === first} className="onboarding-step">
            <summary>
              <Sign step={step} />
              <span className="onboarding-title">{step.title}</span>
              {step.state !== undefined && <span className="onboarding-state">{step.state}</span>}
              <ChevronDown className="onboarding-fold" size={17} aria-hidden />
            </summary>
            <div className="onboarding-body">{step.body}</div>
          </details>
        ))}
      </div>
    </section>
  )
}

function Sign({ step }: { step: Step }) {
  const texts = useTexts('onboarding')
  if (step.done) {
    return <CircleCheck className="onboarding-done" size={20} role="img" aria-label={texts.done} />
  }
  if (step.skipped) {
    return <CircleMinus className="onboarding-open" size={20} role="img" aria-label={texts.skipped} />
  }
  const Icon = step.icon ?? Circle
  return <Icon className="onboarding-open" size={20} aria-hidden />
}

/** A line to paste elsewhere, with a copy button. */
export function Snippet(props: { text: string; label: string }) {
  return (
    <div className="onboarding-snippet">
      <code>{props.text}</code>
      <CopyButton text={props.text} label={props.label} />
    </div>
  )
}
