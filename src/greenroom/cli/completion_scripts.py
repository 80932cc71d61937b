"""What each shell needs around the completion tables: how to write a table, and the code that looks things up."""

from dataclasses import dataclass

Tables = dict[str, dict[str, str]]


@dataclass(frozen=True)
class CompletionScript:
    """One shell: how a function that looks up a table is written, and the code that uses them."""

    head: str
    begin: str
    entry: str
    end: str
    code: str

    def write(self, tables: Tables) -> str:
        """The whole script."""
        parts = [self.head]
        for name, table in tables.items():
            parts.append(self.begin.replace("NAME", name))
            for text, keys in _group_keys(table).items():
                parts.append(self.entry.replace("KEYS", self._join_keys(keys)).replace("TEXT", text))
            parts.append(self.end)
        return "\n".join([*parts, self.code]).strip() + "\n"

    def _join_keys(self, keys: list[str]) -> str:
        return (" " if self.entry.lstrip().startswith("case") else "|").join(f"'{key}'" for key in keys)


def _group_keys(table: dict[str, str]) -> dict[str, list[str]]:
    """Keys grouped by their value: most commands share their options."""
    out: dict[str, list[str]] = {}
    for key, text in table.items():
        out.setdefault(text, []).append(key)
    return out


_POSIX = {"begin": '_greenroom_NAME() {\n  case "$1" in', "entry": "    KEYS) echo 'TEXT' ;;", "end": "  esac\n}"}
_BASH = """
_greenroom() {
  local cur=${COMP_WORDS[COMP_CWORD]} path='' place=0 option='' kind='' word i
  local -a hub=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    [[ $word == '=' ]] && continue
    if [[ -n $option ]]; then
      case $option in --data|--url|--token-file) hub+=("$option" "$word") ;; esac
      option=''
    elif [[ $word == -* ]]; then
      [[ -n $(_greenroom_option "$path $word") ]] && option=$word
    elif [[ " $(_greenroom_verbs "$path") " == *" $word "* ]]; then
      path=${path:+$path }$word
    else
      place=$((place + 1))
    fi
  done
  [[ $cur == '=' ]] && cur=''
  if [[ -n $option ]]; then
    kind=$(_greenroom_option "$path $option")
  elif [[ $cur == -* ]]; then
    kind="words $(_greenroom_options "$path")"
  else
    [[ $place == 0 ]] && kind=$(_greenroom_verbs "$path")
    kind=${kind:+words $kind}
    kind=${kind:-$(_greenroom_argument "$path $place")}
  fi
  local IFS=$' \\t\\n'
  case $kind in
    words\\ *) COMPREPLY=($(compgen -W "${kind#words }" -- "$cur")) ;;
    file)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$cur"))
      ;;
    from\\ *)
      word=$("${COMP_WORDS[0]}" completion --values "${kind#from }" "${hub[@]}" 2>/dev/null)
      COMPREPLY=($(compgen -W "$word" -- "$cur"))
      ;;
    *) COMPREPLY=() ;;
  esac
}
complete -F _greenroom greenroom
"""
_ZSH = """
_greenroom() {
  local cur=${words[CURRENT]} path_='' place=0 option='' kind='' word i
  local -a hub found
  for ((i = 2; i < CURRENT; i++)); do
    word=${words[i]}
    if [[ -n $option ]]; then
      case $option in --data|--url|--token-file) hub+=("$option" "$word") ;; esac
      option=''
    elif [[ $word == -* ]]; then
      [[ -n $(_greenroom_option "$path_ $word") ]] && option=$word
    elif [[ " $(_greenroom_verbs "$path_") " == *" $word "* ]]; then
      path_="${path_:+$path_ }$word"
    else
      place=$((place + 1))
    fi
  done
  if [[ -n $option ]]; then
    kind=$(_greenroom_option "$path_ $option")
  elif [[ $cur == -* ]]; then
    kind="words $(_greenroom_options "$path_")"
  else
    [[ $place == 0 ]] && kind=$(_greenroom_verbs "$path_")
    kind=${kind:+words $kind}
    [[ -n $kind ]] || kind=$(_greenroom_argument "$path_ $place")
  fi
  case $kind in
    words\\ *) compadd -- ${=kind#words } ;;
    file) _files ;;
    from\\ *)
      found=(${(f)"$(${words[1]} completion --values ${kind#from } $hub 2>/dev/null)"})
      compadd -- $found
      ;;
  esac
}
if [[ ${funcstack[1]} == _greenroom ]]; then
  _greenroom "$@"
else
  compdef _greenroom greenroom
fi
"""
_FISH = """
function __greenroom_complete
    set -l path ''
    set -l place 0
    set -l option ''
    set -l hub
    set -l tokens (commandline -opc)
    set -l program $tokens[1]
    for word in $tokens[2..-1]
        if test -n "$option"
            if contains -- $option --data --url --token-file
                set -a hub $option $word
            end
            set option ''
        else if string match -q -- '-*' $word
            if test -n "$(_greenroom_option "$path $word")"
                set option $word
            end
        else if contains -- $word (string split ' ' -- (_greenroom_verbs "$path"))
            set path (string trim -- "$path $word")
        else
            set place (math $place + 1)
        end
    end
    set -l kind
    if test -n "$option"
        set kind (_greenroom_option "$path $option")
    else if string match -q -- '-*' (commandline -ct)
        set kind "words "(_greenroom_options "$path")
    else
        if test $place -eq 0
            set kind (_greenroom_verbs "$path")
        end
        if test -n "$kind"
            set kind "words $kind"
        else
            set kind (_greenroom_argument "$path $place")
        end
    end
    switch "$kind"
        case 'words *'
            string split ' ' -- (string replace 'words ' '' -- $kind)
        case file
            __fish_complete_path (commandline -ct)
        case 'from *'
            $program completion --values (string replace 'from ' '' -- $kind) $hub 2>/dev/null
    end
end
complete -c greenroom -f -a '(__greenroom_complete)'
"""
GLUE = {
    "bash": CompletionScript(head='# bash: eval "$(greenroom completion bash)"', code=_BASH, **_POSIX),
    "zsh": CompletionScript(head='#compdef greenroom\n# zsh: eval "$(greenroom completion zsh)"', code=_ZSH, **_POSIX),
    "fish": CompletionScript(
        head="# fish: greenroom completion fish | source",
        begin='function _greenroom_NAME\n    switch "$argv[1]"',
        entry="        case KEYS\n            echo 'TEXT'",
        end="    end\nend",
        code=_FISH,
    ),
}
