import './second-step.css'
import { useTexts } from '../texts/index.ts'
import { CopyButton } from '../ui/index.ts'

/** New recovery codes, which are shown once. */
export function RecoveryCodes(props: { codes: readonly string[] }) {
  const texts = useTexts('session')
  return (
    <>
      <p>{texts.recoveryKeep}</p>
      <ul className="recovery-codes" aria-label={texts.recoveryTitle}>
        {props.codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div>
        <CopyButton text={props.codes.join('\n')} />
      </div>
    </>
  )
}
