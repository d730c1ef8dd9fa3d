export const session = {
  title: 'Sign in',
  lead: 'Your files, in libraries that remember.',
  keep: 'Stay signed in on this device',
  signIn: 'Sign in',
  wrong: 'This e-mail and password do not belong together.',
  disabled: 'This account is switched off. Ask your administrator.',
  tooOften: 'Too many attempts. Wait a moment, then try again.',
}
