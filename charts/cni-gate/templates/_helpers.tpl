{{- define "cni-gate.image" -}}
{{- with .Values.image -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ with .digest }}@{{ . }}{{ end }}
{{- end -}}
{{- end -}}
{{- define "cni-gate.validatorImage" -}}
{{- with .Values.validatorImage -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ with .digest }}@{{ . }}{{ end }}
{{- end -}}
{{- end -}}
{{- /* the images that the policy over pods lets the init container have, as a list in CEL */}}
{{- define "cni-gate.policyImages" -}}
{{- $images := list (dig "proof" "image" (include "cni-gate.validatorImage" .) .Values.configuration) }}
{{- range dig "profiles" list .Values.configuration }}
{{- with dig "proof" "container" "image" "" . }}{{ $images = append $images . }}{{ end }}
{{- end }}
{{- join "', '" $images | printf "['%s']" }}
{{- end -}}
