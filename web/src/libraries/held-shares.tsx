import { Check, X } from 'lucide-react'
import { acceptHeld, declineHeld, type HeldFrom, useHeldShares } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Avatar, Button, useAction } from '../ui/index.ts'

/** What people who are new to the user share, to accept or to decline. Nothing on most servers. */
export function HeldShares() {
  const texts = useTexts('libraries')
  const { data } = useHeldShares()
  if (data === undefined || data.length === 0) return null
  return (
    <section className="libraries-section">
      <h2>{texts.held}</h2>
      <p className="muted">{texts.heldHint}</p>
      <ul className="libraries-files libraries-held card">
        {data.map((held) => (
          <Row key={`${held.email} ${held.groupId ?? ''}`} held={held} />
        ))}
      </ul>
    </section>
  )
}

function Row(props: { held: HeldFrom }) {
  const { held } = props
  const texts = useTexts('libraries')
  const act = useAction('libraries', 'groups')
  const what = held.names.join(', ')
  return (
    <li>
      <Avatar email={held.email} name={held.name} url={held.avatarUrl} />
      <span className="libraries-file">
        <span title={held.email}>
          <bdi>{held.name}</bdi>
        </span>
        <span className="muted">
          {held.groupId !== undefined && `${texts.heldGroup}: `}
          <bdi>{what}</bdi>
        </span>
      </span>
      <Button
        icon={X}
        aria-label={`${texts.decline}: ${what}`}
        onClick={() => void act(() => declineHeld(held))}
      >
        {texts.decline}
      </Button>
      <Button
        icon={Check}
        variant="primary"
        aria-label={`${texts.accept}: ${what}`}
        onClick={() => void act(() => acceptHeld(held))}
      >
        {texts.accept}
      </Button>
    </li>
  )
}
