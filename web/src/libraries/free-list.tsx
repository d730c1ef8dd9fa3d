import { Link } from 'wouter'
import { useFormats, useTexts } from '../texts/index.ts'

interface Way {
  /** The page where it is done. */
  readonly to?: string
  readonly label: string
  readonly bytes: number
  readonly hint?: string
}

/** What can be freed, and where. Ways that free nothing are left out. */
export function FreeList(props: { ways: readonly Way[] }) {
  const texts = useTexts('libraries')
  const formats = useFormats()
  const ways = props.ways.filter(({ bytes }) => bytes > 0).toSorted((a, b) => b.bytes - a.bytes)
  return (
    <section className="card stack storage-card">
      <h2>{texts.spaceFree}</h2>
      {ways.length === 0 && <p className="muted">{texts.freeNothing}</p>}
      {ways.length > 0 && (
        <ul className="storage-ways">
          {ways.map(({ to, label, bytes, hint }) => (
            <li key={label}>
              <span>
                {to === undefined ? label : <Link to={to}>{label}</Link>}
                {hint !== undefined && <span className="muted storage-hint">{hint}</span>}
              </span>
              <span className="storage-size">{texts.upTo(formats.size(bytes))}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
