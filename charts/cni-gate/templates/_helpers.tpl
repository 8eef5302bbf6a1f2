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
{{- define "cni-gate.injectedImage" -}}
{{ dig "proof" "image" (include "cni-gate.validatorImage" .) .Values.configuration }}
{{- end -}}
{{- /* the images that the policy pods.cni-gate.io accepts for the init container, as a list in CEL */}}
{{- define "cni-gate.policyImages" -}}
{{- $images := list (include "cni-gate.injectedImage" .) }}
{{- range dig "profiles" list .Values.configuration }}
{{- with dig "proof" "container" "image" "" . }}{{ $images = append $images . }}{{ end }}
{{- end }}
{{- join "', '" $images | printf "['%s']" }}
{{- end -}}
{{- define "cni-gate.proofMode" -}}
{{ dig "proof" "mode" (ternary "warn" "enforce" (eq .Values.mode "permissive")) .Values.configuration }}
{{- end -}}
{{- /* whether the chart has a mutating policy for the configuration: "yes", or nothing */}}
{{- define "cni-gate.policiesFit" -}}
{{- if or .Values.policyObjects (not (or .Values.configuration.proof .Values.configuration.profiles)) }}yes{{ end }}
{{- end -}}
{{- /* whether the API server has mutating policies: "yes", or nothing */}}
{{- define "cni-gate.policiesServed" -}}
{{- if .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy" }}yes{{ end }}
{{- end -}}
{{- /* whether the mutating policy is installed: on, off, or only, without a server */}}
{{- define "cni-gate.policies" -}}
{{- if eq .Values.policies "auto" }}
{{- if and (include "cni-gate.policiesFit" .) (include "cni-gate.policiesServed" .) }}on{{ else }}off{{ end }}
{{- else }}
{{- if and (ne .Values.policies "off") (not (include "cni-gate.policiesFit" .)) }}
{{- fail (printf "policies: %s needs policyObjects, the output of `cni-gate policies` for your configuration" .Values.policies) }}
{{- end }}
{{- .Values.policies }}
{{- end }}
{{- end -}}
{{- define "cni-gate.failurePolicy" -}}
{{- if and (eq .Values.mode "strict") (eq (include "cni-gate.policies" .) "off") }}Fail{{ else }}Ignore{{ end }}
{{- end -}}
