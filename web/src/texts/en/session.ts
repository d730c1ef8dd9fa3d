export const session = {
  title: 'Sign in',
  lead: 'Your files, with every version kept.',
  keep: 'Stay signed in on this device',
  signIn: 'Sign in',
  wrong: 'Wrong email or password.',
  disabled: 'This account is disabled. Ask your administrator.',
  tooOften: 'Too many attempts. Wait a moment, then try again.',
}
