import { Eye, EyeOff } from 'lucide-react'
import { type ComponentProps, type ReactNode, useId, useState } from 'react'
import { useTexts } from '../texts/index.ts'
import { IconButton } from './button.tsx'

interface Labelled {
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly error?: ReactNode
}

/** A label with its control. `children` renders the control with the ids it needs for accessibility. */
export function Field(
  props: Labelled & {
    children: (ids: {
      id: string
      'aria-describedby': string | undefined
      'aria-invalid': boolean
    }) => ReactNode
  },
) {
  const id = useId()
  const { label, hint, error } = props
  const describedBy = error || hint ? `${id}-about` : undefined
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      {props.children({ id, 'aria-describedby': describedBy, 'aria-invalid': Boolean(error) })}
      {(error || hint) && (
        <span
          id={describedBy}
          className={error ? 'field-error' : 'field-hint'}
          role={error ? 'alert' : undefined}
        >
          {error || hint}
        </span>
      )}
    </div>
  )
}

export function TextField(props: Labelled & ComponentProps<'input'>) {
  const { label, hint, error, ...rest } = props
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => <input type="text" autoComplete="off" {...rest} {...ids} className="input" />}
    </Field>
  )
}

export function SelectField(props: Labelled & ComponentProps<'select'>) {
  const { label, hint, error, ...rest } = props
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => <select {...rest} {...ids} className="input" />}
    </Field>
  )
}

export function PasswordField(props: Labelled & ComponentProps<'input'>) {
  const { label, hint, error, ...rest } = props
  const texts = useTexts('common')
  const [shown, setShown] = useState(false)
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <span className="input-with-button">
          <input autoComplete="off" {...rest} {...ids} className="input" type={shown ? 'text' : 'password'} />
          <IconButton
            label={shown ? texts.hidePassword : texts.showPassword}
            icon={shown ? EyeOff : Eye}
            onClick={() => setShown(!shown)}
          />
        </span>
      )}
    </Field>
  )
}

export function CheckField(props: { label: ReactNode } & ComponentProps<'input'>) {
  const { label, ...rest } = props
  return (
    <label className="check">
      <input {...rest} type="checkbox" />
      <span>{label}</span>
    </label>
  )
}
