// A webhook as most are: controller-runtime's server, decoder and patch. It makes the change to each pod that
// change.json describes, and gives the init container the mount that the API server would add.
//
// usage: peer PORT FOLDER [ADDRESS], where the folder has tls.crt, tls.key and change.json
package main

import (
	"context"
	"encoding/json"
	"log"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type change struct {
	Container   corev1.Container  `json:"container"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

type injector struct {
	decoder admission.Decoder
	change  change
}

func (i injector) Handle(_ context.Context, request admission.Request) admission.Response {
	var pod corev1.Pod
	if err := i.decoder.Decode(request, &pod); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	container := *i.change.Container.DeepCopy()
	for _, volume := range pod.Spec.Volumes {
		if strings.HasPrefix(volume.Name, "kube-api-access-") {
			container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{
				Name: volume.Name, ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount",
			})
			break
		}
	}
	pod.Spec.InitContainers = append([]corev1.Container{container}, pod.Spec.InitContainers...)
	pod.Labels = merged(pod.Labels, i.change.Labels)
	pod.Annotations = merged(pod.Annotations, i.change.Annotations)
	changed, err := json.Marshal(&pod)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, changed)
}

func merged(into, from map[string]string) map[string]string {
	if into == nil {
		into = map[string]string{}
	}
	maps.Copy(into, from)
	return into
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: peer PORT FOLDER [ADDRESS]")
	}
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	address := "127.0.0.1"
	if len(os.Args) > 3 {
		address = os.Args[3]
	}
	text, err := os.ReadFile(filepath.Join(os.Args[2], "change.json"))
	if err != nil {
		log.Fatal(err)
	}
	var wanted change
	if err := json.Unmarshal(text, &wanted); err != nil {
		log.Fatal(err)
	}
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		log.Fatal(err)
	}
	server := webhook.NewServer(webhook.Options{Host: address, Port: port, CertDir: os.Args[2]})
	server.Register("/mutate", &webhook.Admission{Handler: injector{admission.NewDecoder(scheme), wanted}})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := server.Start(ctx); err != nil {
		log.Fatal(err)
	}
}
